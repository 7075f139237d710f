"""Small drawings as SVG text: colours come from the page's style sheet, so that they follow light and dark.

Everything that is not a number passes through `text`, which escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT = 380, 264  # so narrow that letters stay legible on a telephone, where a drawing is as wide as the page
LEFT, RIGHT, TOP, BOTTOM = 54, 12, 12, 42
MARKS = 8  # numbers on a scale at most, which fit side by side on a telephone


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
    return [float(f"{i * step:.12g}") for i in range(first, math.floor(high / step + 1e-9) + 1)]


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
    x_tick: Callable[[float], str] = short
    y_tick: Callable[[float], str] = short
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
        """A bar from 0 up or down to y."""
        left, right = self.x(x0), self.x(x1)
        top, base = sorted((self.y(y), self.y(0.0)))
        self.parts.append(
            f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{max(0.5, right - left - 0.5):.1f}"'
            f' height="{base - top:.1f}"/>'
        )

    def dot(self, x: float, y: float, kind: str, low: float | None = None, high: float | None = None) -> None:
        """A point, with an upright interval if given."""
        if low is not None and high is not None:
            self.parts.append(
                f'<line class="{kind}" x1="{self.x(x):.1f}" x2="{self.x(x):.1f}" y1="{self.y(low):.1f}"'
                f' y2="{self.y(high):.1f}"/>'
            )
        self.parts.append(f'<circle class="{kind} dot" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="3.2"/>')

    def render(self) -> str:
        """The whole as one ``<svg>`` element."""
        body = [*self._frame(), *self.parts]
        return figure(WIDTH, HEIGHT, self.title, self.description, body, "chart")

    def _frame(self) -> list[str]:
        base, edge = HEIGHT - BOTTOM, WIDTH - RIGHT
        lines = [f'<path class="axis" d="M{LEFT} {TOP}V{base}H{edge}"/>']
        for value in ticks(*self.x_range):
            x = self.x(value)
            lines.append(f'<text class="middle tick" x="{x:.1f}" y="{base + 17}">{self.x_tick(value)}</text>')
            lines.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{base}" y2="{base + 4}"/>')
        for value in self._y_ticks():
            y = self.y(value)
            lines.append(f'<line class="grid" x1="{LEFT}" x2="{edge}" y1="{y:.1f}" y2="{y:.1f}"/>')
            lines.append(f'<text class="end tick" x="{LEFT - 7}" y="{y + 4:.1f}">{self.y_tick(value)}</text>')
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


@dataclass(frozen=True)
class Scale:
    """One horizontal scale for drawings as wide as their cells: places are percentages of the width."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Where a value is drawn, in percent; beyond an end, at that end."""
        return 2.0 + 96.0 * min(1.0, max(0.0, (value - self.low) / ((self.high - self.low) or 1.0)))

    def axis(self) -> str:
        """The numbers of the scale."""
        labels = "".join(
            f'<text class="middle tick" x="{self.place(value):.2f}%" y="14">{short(value)}</text>'
            for value in ticks(self.low, self.high, MARKS)
        )
        return f'<svg class="scale" aria-hidden="true" focusable="false">{labels}</svg>'

    def interval(self, low: float, value: float, high: float, kind: str, guide: float | None) -> str:
        """A dot with its interval on the lines of the scale, and a dashed line at `guide`.

        What lies beyond an end is drawn as an arrow there; the numbers stand beside it in the table.
        """
        lines = [self._upright(tick, "grid") for tick in ticks(self.low, self.high, MARKS)]
        if guide is not None:
            lines.append(self._upright(guide, "guide"))
        off = value > self.high or value < self.low
        if low <= self.high and high >= self.low:
            x1, x2 = self.place(low), self.place(high)
            lines.append(f'<line class="{kind}" x1="{x1:.2f}%" x2="{x2:.2f}%" y1="50%" y2="50%"/>')
        if off:
            arrow = "→" if value > self.high else "←"
            lines.append(f'<text class="middle" x="{self.place(value):.2f}%" y="50%" dy="4">{arrow}</text>')
        else:
            lines.append(f'<circle class="{kind} dot" cx="{self.place(value):.2f}%" cy="50%" r="5"/>')
        return f'<svg class="track" aria-hidden="true" focusable="false">{"".join(lines)}</svg>'

    def _upright(self, value: float, kind: str) -> str:
        x = self.place(value)
        return f'<line class="{kind}" x1="{x:.2f}%" x2="{x:.2f}%" y1="0" y2="100%"/>'


def key(kind: str) -> str:
    """The sign of a legend: a piece of line, a dot or a square in the class `kind`."""
    size, width, sign = "key", 24, f'<line class="{text(kind)}" x1="0" x2="24" y1="7" y2="7"/>'
    if kind.startswith("fill"):
        size, width, sign = "key sign", 14, f'<rect class="{text(kind)}" x="1" y="1" width="12" height="12"/>'
    elif kind.endswith("dot"):
        size, width, sign = "key sign", 14, f'<circle class="{text(kind)}" cx="7" cy="7" r="5"/>'
    return f'<svg class="{size}" viewBox="0 0 {width} 14" aria-hidden="true" focusable="false">{sign}</svg>'


def effect_bar(value: float, largest: float) -> str:
    """A bar to the left for a negative effect and to the right for a positive one."""
    length = 66 * min(1.0, abs(value) / (largest or 1.0))
    x, kind = (70.0, "fill-b") if value >= 0 else (70 - length, "fill-a")
    return (
        '<svg class="effect" viewBox="0 0 140 16" aria-hidden="true" focusable="false">'
        f'<line class="axis" x1="70" x2="70" y1="1" y2="15"/>'
        f'<rect class="{kind}" x="{x:.1f}" y="3" width="{max(length, 0.5):.1f}" height="10"/></svg>'
    )
