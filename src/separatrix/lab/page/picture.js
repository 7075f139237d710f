// One way to draw, on a canvas or into the text of an SVG: what is seen is what is exported.

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escaped = (text) => String(text).replace(/[&<>"]/g, (ch) => ESCAPES[ch]);
const SINGLE = 200; // marks that are drawn one by one, each over the last; more are one path, which is quicker
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

const turn = (n, from, ...far) =>
  Array.from({ length: n }, (_, i) => [Math.cos, Math.sin].map((f) => far[i % far.length] * f(from + (2 * Math.PI * i) / n)));
const UP = -Math.PI / 2;
/** Shapes of radius 1, but for the circle. Classes differ by shape as well as colour. */
const SHAPES = [null, turn(4, Math.PI / 4, 1.25), turn(3, UP, 1.35), turn(4, UP, 1.35), turn(10, UP, 1.4, 0.62), turn(5, UP, 1.2)];
/** Points of a shape of radius r about (x, y); null for a circle. */
const outline = (kind, x, y, r) => SHAPES[kind % 6]?.map(([a, b]) => [x + r * a, y + r * b]);

class Drawing {
  constructor(width, height, colours) {
    Object.assign(this, { width, height, colours });
  }
  line(x1, y1, x2, y2, style) {
    this.polyline([[x1, y1], [x2, y2]], style);
  }
  mark(kind, x, y, r, style) {
    this.marks(kind, [[x, y, r]], style);
  }
  /** Many points of one class: [x, y, radius]. */
  marks(kind, places, style) {
    for (const [x, y, r] of places) {
      const points = outline(kind, x, y, r);
      if (points) this.polygon(points, style);
      else this.circle(x, y, r, style);
    }
  }
  arrow(x1, y1, x2, y2, style) {
    const far = Math.hypot(x2 - x1, y2 - y1);
    if (far < 1) return;
    const [u, v] = [(x2 - x1) / far, (y2 - y1) / far];
    const head = Math.min(9, far);
    this.line(x1, y1, x2 - u * head * 0.7, y2 - v * head * 0.7, style);
    const wing = (side) => [x2 - head * u + side * 0.45 * head * v, y2 - head * v - side * 0.45 * head * u];
    this.polygon([[x2, y2], wing(1), wing(-1)], { fill: style.stroke, alpha: style.alpha });
  }
}

export class CanvasPicture extends Drawing {
  constructor(context, width, height, colours) {
    super(width, height, colours);
    this.context = context;
  }
  styled(style, path) {
    const c = this.context;
    c.globalAlpha = style.alpha ?? 1;
    c.beginPath();
    path(c);
    if (style.fill) (c.fillStyle = style.fill), c.fill();
    if (style.stroke) {
      c.strokeStyle = style.stroke;
      c.lineWidth = style.width ?? 1.5;
      c.setLineDash(style.dash ?? []);
      c.lineJoin = c.lineCap = "round";
      c.stroke();
    }
    c.globalAlpha = 1;
  }
  polyline(points, style) {
    this.styled(style, (c) => points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y))));
  }
  polygon(points, style) {
    this.styled(style, (c) => {
      points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
      c.closePath();
    });
  }
  marks(kind, places, style) {
    if (places.length <= SINGLE) return super.marks(kind, places, style);
    this.styled(style, (c) => {
      for (const [x, y, r] of places) {
        const points = outline(kind, x, y, r);
        if (!points) c.moveTo(x + r, y), c.arc(x, y, r, 0, 2 * Math.PI);
        else points.forEach(([a, b], i) => (i ? c.lineTo(a, b) : c.moveTo(a, b))), c.closePath();
      }
    });
  }
  segments(pieces, style) {
    this.styled(style, (c) => pieces.forEach(([x1, y1, x2, y2]) => (c.moveTo(x1, y1), c.lineTo(x2, y2))));
  }
  circle(x, y, r, style) {
    this.styled(style, (c) => c.arc(x, y, r, 0, 2 * Math.PI));
  }
  text(words, x, y, style = {}) {
    const c = this.context;
    c.font = `${style.weight ?? 400} ${style.size ?? 12}px ${FONT}`;
    c.textAlign = style.align ?? "left";
    c.textBaseline = style.base ?? "alphabetic";
    if (style.halo) {
      c.strokeStyle = style.halo;
      c.lineWidth = 3;
      c.setLineDash([]);
      c.strokeText(words, x, y);
    }
    c.fillStyle = style.fill ?? this.colours.ink;
    c.fillText(words, x, y);
  }
  image(canvas, x, y, width, height) {
    this.context.imageSmoothingEnabled = true;
    this.context.drawImage(canvas, x, y, width, height);
  }
}

export class SvgPicture extends Drawing {
  constructor(width, height, colours) {
    super(width, height, colours);
    this.parts = [];
  }
  put(name, attributes, style, content = "") {
    const all = {
      ...attributes,
      fill: style.fill ?? "none",
      stroke: style.stroke,
      "stroke-width": style.stroke ? (style.width ?? 1.5) : undefined,
      "stroke-dasharray": style.dash?.length ? style.dash.join(" ") : undefined,
      opacity: style.alpha,
    };
    const written = Object.entries(all).filter(([, v]) => v !== undefined);
    this.parts.push(`<${name} ${written.map(([k, v]) => `${k}="${escaped(typeof v === "number" ? +v.toFixed(2) : v)}"`).join(" ")}>${content}</${name}>`);
  }
  polyline(points, style) {
    this.put("polyline", { points: points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ") }, style);
  }
  polygon(points, style) {
    this.put("polygon", { points: points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ") }, style);
  }
  segments(pieces, style) {
    const d = pieces.map(([x1, y1, x2, y2]) => `M${x1.toFixed(2)} ${y1.toFixed(2)}L${x2.toFixed(2)} ${y2.toFixed(2)}`).join("");
    if (d) this.put("path", { d }, style);
  }
  circle(x, y, r, style) {
    this.put("circle", { cx: x, cy: y, r }, style);
  }
  text(words, x, y, style = {}) {
    const anchor = { center: "middle", right: "end" }[style.align] ?? "start";
    const base = { top: "hanging", middle: "central" }[style.base] ?? "auto";
    const attributes = { x, y, "font-size": style.size ?? 12, "font-weight": style.weight ?? 400, "text-anchor": anchor, "dominant-baseline": base };
    this.put("text", { ...attributes, "font-family": "sans-serif" }, { fill: style.fill ?? this.colours.ink }, escaped(words));
  }
  image(canvas, x, y, width, height) {
    this.parts.push(`<image href="${canvas.toDataURL()}" x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none"/>`);
  }
  toString() {
    const { width, height } = this;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="${this.colours.paper}"/>${this.parts.join("")}</svg>`;
  }
}

/** A canvas sized for its place on the page and its screen; `draw(picture)` whenever it changes. */
export function makeCanvas(parent, className, label) {
  const canvas = document.createElement("canvas");
  canvas.className = className;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  parent.append(canvas);
  return canvas;
}

export function drawOn(canvas, colours, draw) {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!width || !height) return;
  const density = Math.min(3, window.devicePixelRatio || 1);
  const [w, h] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, width, height);
  draw(new CanvasPicture(context, width, height, colours));
}

/** A number for people: few digits, no noise. */
export function short(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-3 ? value.toExponential(digits - 2) : String(+value.toPrecision(digits));
  return text.replace("e+", "e").replace(/-/g, "−");
}
