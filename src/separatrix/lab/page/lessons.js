// Lessons beside the plane: a little Markdown, buttons that set the stage, and tasks that the page can tell solved.
import { make, makeButton } from "./pane.js";

const valueAt = (w, x) => w[0] * x[0] + w[1] * x[1] + w[2];
const lineFound = ({ coef, intercept }) => [...coef[0], intercept[0]];
/** How many points of one side (or of both) lie on the other side of the level. */
const astray = ($, w, level = 0, side = 0) => $.X.filter((x, i) => valueAt(w, x) >= level !== $.side[i] > 0 && (!side || $.side[i] === side)).length;

/** Tasks by name: what must be true of the first pane's answer. `$` is the app's first pane, with its answer there. */
export const TASKS = {
  separated: ($) => $.y.length >= 4 && $.answer.certificate?.kind === "Separator" && !!$.checked?.holds,
  "proof-of-overlap": ($) => $.answer.facts.verdict === "overlapping" && $.y.length <= 6,
  "many-mistakes": ($) => $.id === "perceptron" && $.answer.certified && $.answer.frames.mistakes.at(-1) >= 50,
  "few-mistakes": ($) => $.id === "perceptron" && $.answer.certified && $.y.length >= 10 && $.answer.frames.mistakes.at(-1) <= 3,
  "still-wrong": ($) => $.id === "perceptron" && $.answer.frames.point.some((i, k) => k && i >= 0 && $.side[i] * valueAt($.answer.frames.weights[k], $.X[i]) <= 0),
  "bound-met": ($) => $.id === "perceptron" && $.answer.certified && $.answer.settings.init === "zeros" && $.answer.frames.mistakes.at(-1) === Math.floor($.answer.facts.bound),
  "m-of-d": ($) => $.id === "perceptron" && Array.isArray($.answer.settings.init) && $.y.length >= 4 && $.answer.frames.mistakes.at(-1) === 0 && astray($, $.answer.settings.init) === 0,
  parity: ($) => $.y.length === 8 && $.X.every(([, y], i) => $.y[i] === y % 2) && $.answer.facts.verdict === "overlapping",
  "pocket-beats-walk": ($) => $.id === "pocket" && $.answer.facts.verdict === "overlapping" && $.answer.frames.errors.at(-1) <= 2 && $.y.length >= 8,
  "bracket-closed": ($) => $.id === "kozinec" && $.answer.certified && $.answer.settings.epsilon <= 0.01,
  "kernel-separates-xor": ($) => $.id === "kernel_perceptron" && $.answer.certificate?.kind === "KernelSeparator" && $.y.length === 4,
  "same-walk": ($) => $.id === "kernel_perceptron" && $.answer.settings.kernel === "poly" && !!$.answer.facts.same_walk,
  "three-supports": ($) => $.id === "hard_margin" && $.answer.model?.support.length === 3,
  "wide-margin": ($) => $.id === "hard_margin" && $.answer.model && $.answer.certificate.lower >= 1 && $.y.length >= 6,
  "all-at-C": ($) => $.id === "svc" && $.answer.model?.dual_coef[0].every((a) => Math.abs(a) >= $.answer.settings.C * (1 - 1e-6)),
  "soft-is-hard": ($) => {
    if ($.id !== "svc" || $.answer.settings.kernel !== "linear") return false;
    const w = lineFound($.answer.model);
    return $.answer.model.dual_coef[0].every((a) => Math.abs(a) < $.answer.settings.C * (1 - 1e-6)) && $.X.every((x, i) => $.side[i] * valueAt(w, x) > 1 - 1e-3);
  },
  "no-false-alarm": ($) => {
    if ($.id !== "logistic" || !$.answer.certified) return false;
    const [w, t] = [$.answer.frames.weights.at(-1), $.answer.settings.threshold];
    return astray($, w, 0, -1) > 0 && astray($, w, Math.log(t / (1 - t)), -1) === 0;
  },
  stuck: ($) => $.id === "logistic" && $.answer.settings.loss === "squared_error" && $.answer.frames.mistakes.at(-1) > $.y.length / 2,
  "went-up": ($) => $.id === "logistic" && $.answer.settings.solver === "gradient" && $.answer.frames.objective.some((v, k, all) => k && v > all[k - 1] * (1 + 1e-9)),
  "no-maximum": ($) => $.id === "logistic" && $.answer.settings.C === null && $.answer.certificate?.kind === "Separator",
  "newton-fast": ($) => $.id === "logistic" && $.answer.settings.solver === "newton" && $.answer.certified && $.answer.frames.step.length <= 10,
  "least-squares-errs": ($) => {
    if ($.id !== "least_squares") return false;
    return astray($, $.answer.facts.logistic) === 0 && astray($, lineFound($.answer.model)) > 0;
  },
  "centroid-errs": ($) => {
    if ($.id !== "centroid" || $.answer.model.classes.length !== 2) return false;
    return $.y.length >= 6 && astray($, lineFound($.answer.model)) > 0;
  },
  "bayes-curve": ($) => $.id === "naive_bayes" && $.answer.settings.shared_variance === false && $.answer.verified,
  "fewest-settled": ($) => $.id === "fewest_errors" && $.answer.certificate.errors > 0 && $.answer.certificate.errors === $.answer.certificate.lower_bound,
  "three-classes": ($) => $.id === "softmax" && $.answer.model.classes.length >= 3 && ($.settings.pivot ?? -1) >= 0,
  "lifted-apart": ($) => $.id === "lift" && $.answer.model !== null && $.answer.facts.verdict === "overlapping",
};

export const solved = (name, pane) => !!(pane.answer?.frames && TASKS[name]?.(pane));

/** Text with **bold**, *slanted* and `code` as nodes. */
function inline(text) {
  return text.split(/(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`)/).map((part) => {
    if (part.startsWith("**")) return make("strong", "", part.slice(2, -2));
    if (part.startsWith("`")) return make("code", "", part.slice(1, -1));
    if (/^\*[^*]+\*$/.test(part)) return make("em", "", part.slice(1, -1));
    return part.replace(/\[([^\]]+)\]\([^)]*\)/g, "$1");
  });
}

/** The nodes of a lesson; `stage(words)` sets it, and tasks are returned to be looked at after each answer. */
export function readLesson(text, stage) {
  const nodes = [];
  const tasks = [];
  for (const block of text.split(/\n{2,}/)) {
    const command = /^<!-- try: (.*) -->$/.exec(block.trim());
    const heading = /^(#+) (.*)$/s.exec(block.trim());
    if (command) {
      const words = Object.fromEntries(command[1].split(" ").map((pair) => pair.split("=")));
      nodes.push(makeButton("Set the stage", "Load data and algorithm of this lesson", () => stage(words), "lab-button"));
    } else if (heading) nodes.push(make(heading[1].length > 1 ? "h3" : "h2", "", "", ...inline(heading[2])));
    else if (block.startsWith("```")) nodes.push(make("pre", "", block.replace(/^```\w*\n|\n?```$/g, "")));
    else if (/^[-*] /.test(block)) {
      const list = make("ul");
      for (const item of block.split(/\n(?=[-*] )/)) {
        const task = /<!-- task: ([\w-]+) -->/.exec(item);
        const words = item.slice(2).replace(/<!--.*?-->/g, "").replace(/\s+/g, " ").trim();
        const li = make("li", task ? "lab-task" : "", "", ...inline(words));
        if (task) tasks.push({ name: task[1], li });
        list.append(li);
      }
      nodes.push(list);
    } else if (!block.trim().startsWith("<!--")) nodes.push(make("p", "", "", ...inline(block.replace(/\s+/g, " ").trim())));
  }
  return { nodes, tasks };
}
