// Views of formulas and of the search: centroids, naive Bayes, fewest errors.
import { sum } from "./numbers.js";
import { short } from "./picture.js";
import { VIEWS, drawBoundary, fieldOf, slider, toggle, vector, verdictWords } from "./views.js";

const lineOf = ({ coef, intercept }) => [...coef[0], intercept[0]];

/** Regions of the classes: shaded by the one that scores highest, with a line where another begins to. */
function drawRegions(pic, map, pane, key, scores) {
  const { classes } = pane.answer.model;
  const field = fieldOf(pane, map, key, (empty) => {
    const all = empty.ys.flatMap((y) => empty.xs.map((x) => scores([x, y])));
    empty.leads = classes.map((_, a) => all.map((s) => s[a] - Math.max(...s.filter((_, c) => c !== a))));
    return Object.assign(empty, { values: all.map(highest) });
  });
  field.paint(pic, (c) => classes[c], () => 0.14);
  for (const lead of field.leads) pic.segments(field.contour(0, lead), { stroke: pic.colours.ink, width: 2.2 });
}
const highest = (values) => values.indexOf(Math.max(...values));

VIEWS.centroid = {
  title: "Centroids",
  rule: "f(x) = (μ₊ − μ₋)·x − (μ₊ − μ₋)·(μ₊ + μ₋)/2: the bisector of the segment between the means.",
  controls: [],
  under(pic, map, pane) {
    if (pane.answer.model.classes.length === 2) drawBoundary(pic, map, lineOf(pane.answer.model));
    else drawRegions(pic, map, pane, "centroids", (x) => nearness(pane.answer.model, x));
  },
  over(pic, map, pane) {
    const col = pic.colours;
    const { centroids, classes } = pane.answer.model;
    const places = centroids.map((m) => [map.X(m[0]), map.Y(m[1])]);
    if (classes.length === 2) {
      pic.line(...places[0], ...places[1], { stroke: col.ink, width: 1.6, dash: [5, 4] });
      const middle = places[0].map((v, j) => (v + places[1][j]) / 2);
      pic.circle(...middle, 4, { fill: col.ink });
    }
    places.forEach(([X, Y], a) => {
      pic.mark(classes[a], X, Y, 11, { fill: col.classes[classes[a]], stroke: col.ink, width: 2 });
      pic.text("μ", X, Y, { fill: col.paper, weight: 700, align: "center", base: "middle", size: 13 });
    });
  },
  styles: () => () => ({ faint: true }),
  readouts: (pane) => [
    ...pane.answer.model.centroids.map((m, a) => [`μ of class ${pane.nameOf(a)}`, vector(m)]),
    ...(pane.answer.model.classes.length === 2 ? [["(w, b)", vector(lineOf(pane.answer.model))]] : []),
    ["Errors", errorsOf(pane, nearness)],
  ],
};
const nearness = ({ centroids }, x) => centroids.map((m) => -((x[0] - m[0]) ** 2) - (x[1] - m[1]) ** 2);
/** How many points another class scores highest of. */
const errorsOf = ({ X, y, answer: { model } }, scores) => String(X.filter((x, i) => model.classes[highest(scores(model, x))] !== y[i]).length);

VIEWS.naive_bayes = {
  title: "Naive Bayes",
  rule: "p(x | c) = Π N(x_j; μ_cj, σ²): one bell curve for each class and column. Equal variances make a line.",
  controls: [toggle("shared_variance", "One variance for all classes")],
  under(pic, map, pane) {
    const { model } = pane.answer;
    if (model.coef && model.classes.length === 2) drawBoundary(pic, map, lineOf(model));
    else drawRegions(pic, map, pane, "bayes", (x) => logs(model, x));
  },
  over(pic, map, pane) {
    const { parameters, classes, class_prior: prior } = pane.answer.model;
    const col = pic.colours;
    const [m, tall] = [90, 46];
    parameters.forEach((mean, a) => {
      const stroke = { stroke: col.classes[classes[a]], width: 2 };
      const bell = (v, j) => prior[a] * Math.exp(-((v - mean[j]) ** 2) / (2 * variance(pane.answer.model, a, j))) / Math.sqrt(variance(pane.answer.model, a, j));
      const most = [0, 1].map((j) => Math.max(...parameters.map((_, c) => prior[c] / Math.sqrt(variance(pane.answer.model, c, j)))));
      const across = Array.from({ length: m + 1 }, (_, i) => map.x0 + (i / m) * (map.x1 - map.x0));
      pic.polyline(across.map((v) => [map.X(v), map.height - 20 - (tall * bell(v, 0)) / most[0]]), stroke);
      const up = Array.from({ length: m + 1 }, (_, i) => map.y0 + (i / m) * (map.y1 - map.y0));
      pic.polyline(up.map((v) => [map.width - 4 - (tall * bell(v, 1)) / most[1], map.Y(v)]), stroke);
      for (const r of [1, 2]) {
        const ring = Array.from({ length: 61 }, (_, i) => (2 * Math.PI * i) / 60).map((t) => [
          map.X(mean[0] + r * Math.sqrt(variance(pane.answer.model, a, 0)) * Math.cos(t)),
          map.Y(mean[1] + r * Math.sqrt(variance(pane.answer.model, a, 1)) * Math.sin(t)),
        ]);
        pic.polyline(ring, { ...stroke, width: 1.2, alpha: 0.7, dash: r > 1 ? [3, 4] : [] });
      }
    });
  },
  readouts(pane) {
    const { model } = pane.answer;
    return [
      ...model.parameters.map((mean, a) => [
        `Class ${pane.nameOf(a)}: μ, σ`,
        `${vector(mean)}, ${vector([0, 1].map((j) => Math.sqrt(variance(model, a, j))))}`,
      ]),
      ["Priors", vector(model.class_prior)],
      ["Errors", errorsOf(pane, logs)],
    ];
  },
};
const variance = (model, a, j) => (Array.isArray(model.variances[0]) ? model.variances[a][j] : model.variances[j]) || 1e-300;
const logs = (model, x) =>
  model.parameters.map((mean, a) => Math.log(model.class_prior[a]) - sum(mean.map((v, j) => (x[j] - v) ** 2 / (2 * variance(model, a, j)) + Math.log(variance(model, a, j)) / 2)));

VIEWS.fewest_errors = {
  title: "Fewest errors",
  hurried: true,
  rule: "min over all lines of the number of points on the wrong side: a search with a bound, best so far first.",
  controls: [slider("max_nodes", "Nodes of the search", 1, 2000, { log: true, step: 1 })],
  under: (pic, map, pane) => drawBoundary(pic, map, lineOf(pane.answer.model)),
  styles(pane) {
    const w = lineOf(pane.answer.model);
    return (i) => {
      const wrong = w[0] * pane.X[i][0] + w[1] * pane.X[i][1] + w[2] >= 0 !== pane.side[i] > 0;
      return { wrong, ring: wrong };
    };
  },
  readouts(pane) {
    const c = pane.answer.certificate;
    return [
      ["Errors found", short(c.errors)],
      ["Fewest possible, at least", `${short(c.lower_bound)}${pane.answer.trusted.length ? " (a search's word)" : ""}`],
      ["Proof of the bound", c.proof],
      ["(w, b)", vector(lineOf(pane.answer.model))],
      ["These points", verdictWords(pane)],
    ];
  },
  theorems(pane) {
    const c = pane.answer.certificate;
    return [{ text: `bound ≤ errors: ${short(c.lower_bound)} ≤ ${short(c.errors)}`, holds: c.lower_bound <= c.errors }];
  },
};
