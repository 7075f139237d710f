"""Small drawings as SVG text: colours come from the page's style sheet, so that they follow light and dark.

Everything that is not a number passes through `text`, which escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT = 480, 290
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 14, 44


def text(value: object) -> str:
    """Any value as text that is safe between tags and in attributes."""
    return escape(str(value), quote=True)


def short(value: float) -> str:
    """A tick label."""
    if value and not 1e-3 <= abs(value) < 1e4:
        mantissa, exponent = f"{value:.0e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.4g}"


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between low and high."""
    span = high - low
    if not span > 0:
        return [low]
    step = 10.0 ** math.floor(math.log10(span / about))
    for factor in (1, 2, 5, 10):
        if span / (step * factor) <= about:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass
class Axes:
    """A plot with two axes. `log_y` draws powers of ten."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_label: str
    y_label: str
    title: str
    description: str
    log_y: bool = False
    parts: list[str] = field(default_factory=list)

    def x(self, value: float) -> float:
        """Where a value is drawn."""
        low, high = self.x_range
        return LEFT + (value - low) / ((high - low) or 1.0) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Where a value is drawn."""
        low, high = self.y_range
        if self.log_y:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return HEIGHT - BOTTOM - (value - low) / ((high - low) or 1.0) * (HEIGHT - TOP - BOTTOM)

    def line(self, xs: Sequence[float], ys: Sequence[float], kind: str) -> None:
        """A line through the points, in the class `kind` of the style sheet."""
        points = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in zip(xs, ys, strict=True))
        self.parts.append(f'<polyline class="{kind}" points="{points}"/>')

    def bar(self, x0: float, x1: float, y: float, kind: str) -> None:
        """A bar from the axis up to y."""
        left, right, top, base = self.x(x0), self.x(x1), self.y(y), self.y(self.y_range[0])
        self.parts.append(
            f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{max(0.5, right - left - 0.5):.1f}"'
            f' height="{max(0.0, base - top):.1f}"/>'
        )

    def dot(self, x: float, y: float, kind: str, low: float | None = None, high: float | None = None) -> None:
        """A point, with an upright interval if given."""
        if low is not None and high is not None:
            self.parts.append(
                f'<line class="{kind}" x1="{self.x(x):.1f}" x2="{self.x(x):.1f}" y1="{self.y(low):.1f}"'
                f' y2="{self.y(high):.1f}"/>'
            )
        self.parts.append(f'<circle class="{kind} dot" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="3.2"/>')

    def legend(self, names: Sequence[tuple[str, str]], right: bool = True, top: float = TOP + 6) -> None:
        """Names with the colour of their class, one below the other."""
        for number, (name, kind) in enumerate(names):
            y = top + 17 * number
            shown = name if len(name) <= 26 else name[:25] + "…"
            if right:
                edge = WIDTH - RIGHT - 6
                self.parts.append(f'<line class="{kind} key" x1="{edge - 22}" x2="{edge}" y1="{y:.0f}" y2="{y:.0f}"/>')
                self.parts.append(f'<text class="end" x="{edge - 28}" y="{y + 4:.0f}">{text(shown)}</text>')
            else:
                edge = LEFT + 8
                self.parts.append(f'<line class="{kind} key" x1="{edge}" x2="{edge + 22}" y1="{y:.0f}" y2="{y:.0f}"/>')
                self.parts.append(f'<text x="{edge + 28}" y="{y + 4:.0f}">{text(shown)}</text>')

    def render(self) -> str:
        """The whole as one ``<svg>`` element."""
        body = [*self._frame(), *self.parts]
        return figure(WIDTH, HEIGHT, self.title, self.description, body, "chart")

    def _frame(self) -> list[str]:
        base, edge = HEIGHT - BOTTOM, WIDTH - RIGHT
        lines = [f'<path class="axis" d="M{LEFT} {TOP}V{base}H{edge}"/>']
        for value in ticks(*self.x_range):
            x = self.x(value)
            lines.append(f'<text class="middle tick" x="{x:.1f}" y="{base + 17}">{short(value)}</text>')
            lines.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{base}" y2="{base + 4}"/>')
        for value in self._y_ticks():
            y = self.y(value)
            lines.append(f'<line class="grid" x1="{LEFT}" x2="{edge}" y1="{y:.1f}" y2="{y:.1f}"/>')
            lines.append(f'<text class="end tick" x="{LEFT - 7}" y="{y + 4:.1f}">{short(value)}</text>')
        middle = (LEFT + edge) / 2
        lines.append(f'<text class="middle" x="{middle:.0f}" y="{HEIGHT - 8}">{text(self.x_label)}</text>')
        upright = (TOP + base) / 2
        lines.append(
            f'<text class="middle" transform="translate(13 {upright:.0f}) rotate(-90)">{text(self.y_label)}</text>'
        )
        return lines

    def _y_ticks(self) -> list[float]:
        if not self.log_y:
            return ticks(*self.y_range)
        low, high = (math.log10(value) for value in self.y_range)
        step = max(1, math.ceil((high - low) / 6))
        return [10.0**power for power in range(math.ceil(low), math.floor(high) + 1, step)]


def figure(width: float, height: float, title: str, description: str, body: Sequence[str], kind: str) -> str:
    """An ``<svg>`` that a screen reader announces by its title and description."""
    name = "".join(c if c.isalnum() else "-" for c in title.lower())
    return (
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}-title {name}-text">'
        f'<title id="{name}-title">{text(title)}</title><desc id="{name}-text">{text(description)}</desc>'
        + "".join(body)
        + "</svg>"
    )


def interval_bar(low: float, high: float, value: float, floor: float, ceiling: float, kind: str) -> str:
    """A dot with a whisker on the scale from floor to ceiling; the numbers stand beside it in the table."""
    span = (ceiling - floor) or 1.0

    def x(number: float) -> float:
        return 4 + 132 * min(1.0, max(0.0, (number - floor) / span))

    return (
        '<svg class="whisker" viewBox="0 0 140 16" aria-hidden="true" focusable="false">'
        f'<line class="grid" x1="4" x2="136" y1="8" y2="8"/>'
        f'<line class="{kind}" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="8" y2="8"/>'
        f'<circle class="{kind} dot" cx="{x(value):.1f}" cy="8" r="4"/></svg>'
    )


def effect_bar(value: float, largest: float) -> str:
    """A bar to the left for a negative effect and to the right for a positive one."""
    length = 66 * min(1.0, abs(value) / (largest or 1.0))
    x, kind = (70.0, "fill-b") if value >= 0 else (70 - length, "fill-a")
    return (
        '<svg class="whisker" viewBox="0 0 140 16" aria-hidden="true" focusable="false">'
        f'<line class="axis" x1="70" x2="70" y1="1" y2="15"/>'
        f'<rect class="{kind}" x="{x:.1f}" y="3" width="{max(length, 0.5):.1f}" height="10"/></svg>'
    )
