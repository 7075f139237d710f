// One algorithm on the points: its controls, the request for its fit, and everything that shows the answer.
import { drawCurves, stepAt } from "./charts.js";
import { verify } from "./checker.js";
import { drawOn, makeCanvas, short } from "./picture.js";
import { Plane } from "./plane.js";
import { lineThrough, uprightLine } from "./start.js";
import { VIEWS } from "./views.js";

let requests = 0; // so far: each has its own number
const AGAIN = 1000; // milliseconds until a server that does not answer is asked again
const PATIENCE = 6000; // milliseconds without an answer after which the page says that it waits

/** An element with a class, text and children. */
export function make(tag, className = "", text = "", ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  element.append(...children);
  return element;
}

/** A button that says in a hint, and to who cannot see it, what it does. */
export function makeButton(text, title, act, className = "lab-tool") {
  const button = make("button", className, text);
  Object.assign(button, { type: "button", title });
  button.addEventListener("click", act);
  return button;
}

export class Pane {
  constructor(app, id, settings = {}) {
    Object.assign(this, { app, settings, k: 0, answer: null, X: [], y: [], side: [], flight: null, queued: null });
    this.el = make("section", "lab-pane");
    this.select = this.chooser();
    const head = make("div", "lab-pane-head", "", make("label", "lab-field", "Algorithm ", this.select), (this.rule = make("p", "lab-rule")));
    this.stage = make("div", "lab-stage");
    this.sentence = make("p", "lab-sentence");
    this.sentence.setAttribute("aria-live", "polite");
    this.problem = make("p", "lab-problem");
    this.problem.setAttribute("role", "alert");
    this.notes = make("ul", "lab-notes");
    this.side_ = make("div", "lab-side");
    this.controls = make("div", "lab-controls");
    this.readout = make("dl", "lab-readout");
    this.theorem = make("ul", "lab-theorems");
    this.proof = make("div", "lab-proof");
    this.charts = make("div", "lab-charts");
    this.side_.append(this.controls, this.proof, this.readout, this.theorem, this.charts, this.notes);
    this.el.append(head, make("div", "lab-body", "", make("div", "lab-left", "", this.stage, this.problem, this.sentence), this.side_));
    this.plane = new Plane(this.stage, app.store, app, () => this.layers());
    this.setAlgorithm(id);
  }

  get view() {
    return VIEWS[this.id];
  }
  get classes() {
    return this.answer?.model?.classes ?? [];
  }
  /** How the model's a-th class is called. */
  nameOf(a) {
    return this.app.store.nameOf(this.classes[a]);
  }
  get frames() {
    return this.answer?.frames?.step?.length ?? 1;
  }

  chooser() {
    const select = make("select", "lab-algorithm");
    for (const [id, view] of Object.entries(VIEWS)) select.append(new Option(view.title, id));
    select.addEventListener("change", () => {
      this.settings = {};
      this.setAlgorithm(select.value);
      this.ask(false);
    });
    return select;
  }
  setAlgorithm(id) {
    this.id = id in VIEWS ? id : "perceptron";
    this.select.value = this.id;
    Object.assign(this, { answer: null, k: 0 });
    this.rule.textContent = this.view.rule;
    this.settings = { ...this.app.start.settings[this.id], ...this.settings };
    this.makeControls();
    this.makeCharts();
    this.plane.canvas.setAttribute("aria-label", `${this.view.title}: the plane with the points`);
  }

  // ------------------------------------------------------------------ controls
  makeControls() {
    this.controls.replaceChildren();
    for (const control of this.view.controls) {
      if (control.when && !control.when(this.settings)) continue;
      this.controls.append(this.makeControl(control));
    }
  }
  /** Another value of a setting: ask for the fit, or only draw anew what the page itself does with it. */
  change(name, value, draft) {
    this.settings = { ...this.settings, [name]: value };
    if (this.view.fix) this.settings = this.view.fix(this.settings);
    if (this.view.local?.includes(name)) return (this.asked = [this.asked?.[0], this.settings]), this.app.paint();
    this.ask(draft);
  }
  makeControl({ name, label, kind, options, low, high, log, step, auto }) {
    const row = make("label", `lab-field lab-${kind}`);
    const words = make("span", "lab-label", label);
    const change = (value, draft) => this.change(name, value, draft);
    if (kind === "start") return this.makeStart(options);
    let input;
    if (kind === "choice") {
      if (typeof options === "function") options = options(this);
      input = make("select");
      options.forEach(([value, text], i) => input.append(new Option(text, i, false, value === this.settings[name])));
      input.addEventListener("change", () => {
        change(options[+input.value][0], false);
        this.makeControls();
        this.controls.querySelector(`[data-name="${name}"]`)?.focus();
      });
      row.append(words, input);
    } else if (kind === "toggle") {
      input = make("input");
      input.type = "checkbox";
      input.checked = !!this.settings[name];
      input.addEventListener("change", () => {
        change(input.checked, false);
        this.makeControls();
        this.controls.querySelector(`[data-name="${name}"]`)?.focus();
      });
      row.append(input, words);
    } else {
      input = make("input");
      input.type = "range";
      const [to, from] = log ? [Math.log10, (v) => +(10 ** v).toPrecision(3)] : [(v) => v, (v) => +v.toPrecision(6)];
      Object.assign(input, { min: to(low), max: to(high), step: log ? 0.01 : (step ?? "any") });
      const value = this.settings[name];
      input.value = value === null ? to(low) : to(value);
      const output = make("output", "", value === null ? "auto" : short(value, 3));
      const read = () => {
        const found = step === 1 ? Math.round(from(+input.value)) : from(+input.value);
        if (auto && +input.value <= +input.min) return (output.textContent = "auto"), null;
        output.textContent = short(found, 3);
        return found;
      };
      input.addEventListener("input", () => change(read(), true));
      input.addEventListener("change", () => change(read(), false));
      row.append(words, input, output);
    }
    input.dataset.name = name;
    return row;
  }

  /** The choice of a start, and the three numbers of a line of one's own. */
  makeStart(options) {
    const { init } = this.settings;
    const line = Array.isArray(init) ? init : uprightLine(this.app.store.window);
    const values = options.map(([value, text]) => [value === "own" ? line : value, text]);
    const box = make("div", "lab-start", "", this.makeControl({ name: "init", label: "Start", kind: "choice", options: values }));
    if (!Array.isArray(init)) return box;
    this.numbers = ["w₁", "w₂", "b"].map((name, j) => {
      const input = make("input");
      Object.assign(input, { type: "number", step: "any", value: init[j] });
      input.setAttribute("aria-label", `Start: ${name}`);
      input.addEventListener("change", () => {
        if (input.value === "") return void (input.value = this.settings.init[j]);
        this.change("init", this.settings.init.map((v, i) => (i === j ? +input.value : v)), false);
      });
      return input;
    });
    box.append(make("div", "lab-numbers", "", ...this.numbers.map((input, j) => make("label", "lab-field", `${["w₁", "w₂", "b"][j]} `, input))));
    return box;
  }
  /** The start is dragged by its grips. */
  pull(map, grips, draft) {
    const line = lineThrough(map, grips, this.settings.init);
    this.numbers?.forEach((input, j) => (input.value = line[j]));
    this.change("init", line, draft);
    this.app.paint();
  }

  // ------------------------------------------------------------------ asking
  /** Ask for a fit; while one is under way the next waits, and of those that wait only the newest is sent. */
  ask(draft, refine = false) {
    if (this.view.hurried && !refine) draft = true; // a first answer, and then `hear` asks for the whole one
    if (this.flight !== null) {
      this.queued = this.queued === null ? draft : draft && this.queued;
      return;
    }
    const points = this.app.store.points;
    const local = new Set(this.view.local);
    const settings = Object.fromEntries(Object.entries(this.settings).filter(([name]) => !local.has(name)));
    this.flight = `${this.app.panes.indexOf(this)}.${this.app.tag}.${++requests}`; // no other page of this kernel has it
    this.sent = { points, id: this.id, settings: this.settings };
    const who = this.app.start.notebook ? "The kernel has not answered yet: it is busy with another cell, or has ended." : "The lab's server has not answered yet …";
    this.waiting = setTimeout(() => this.app.lose(who), PATIENCE);
    this.app.model.send({ id: this.flight, algorithm: this.id, X: points.map((p) => [p.x, p.y]), y: points.map((p) => p.c), settings, draft });
  }
  hear({ id, answer, error, lost }) {
    if (id !== this.flight) return; // an answer to a pane that was closed
    clearTimeout(this.waiting);
    const sent = this.sent;
    const queued = this.queued;
    [this.flight, this.queued] = [null, null];
    if (lost) {
      this.app.lose(error ?? "The lab's server does not answer. Trying again …");
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.ask(false), AGAIN);
      return;
    }
    this.app.find();
    if (sent.id === this.id) this.take(answer ?? { refusal: error }, sent);
    if (queued !== null) this.ask(queued);
    else if (answer?.draft && !this.app.busy) this.ask(false, true);
  }
  take(answer, { points, settings }) {
    this.asked = [points, settings];
    const classes = String(this.classes);
    this.problem.textContent = answer.refusal ?? "";
    if (answer.refusal) {
      this.answer = null;
      this.proof.replaceChildren();
      this.notes.replaceChildren();
    } else {
      const kept = answer.rows ? answer.rows.map((i) => points[i]) : points;
      const { k, length } = this.app.time;
      this.points = points;
      this.rank = answer.rows && new Map(answer.rows.map((row, i) => [row, i]));
      this.X = kept.map((p) => [p.x, p.y]);
      this.y = kept.map((p) => p.c);
      const positive = Math.max(...this.y);
      this.side = this.y.map((c) => (c === positive ? 1 : -1));
      this.answer = answer;
      this.k = Math.min(k >= length - 1 ? Infinity : k, this.frames - 1); // who is at the end stays there
      this.checked = null;
      clearTimeout(this.checking);
      this.showProof();
      this.checking = setTimeout(() => this.check(), answer.draft ? 60 : 0);
      this.notes.replaceChildren(...answer.notes.map((note) => make("li", "", note)));
      if (String(this.classes) !== classes) this.makeControls(); // some are about the classes
    }
    this.app.answered(this);
  }

  // ------------------------------------------------------------------ the proof
  check() {
    const { answer } = this;
    if (!answer?.certificate) return;
    const rows = this.id === "lift" ? this.X.map(([x, y]) => [x, y, answer.settings.map === "product" ? x * y : x * x + y * y]) : this.X;
    this.checked = verify(answer.certificate, rows, this.y);
    this.showProof();
    this.app.learned();
  }
  showProof() {
    const { answer, checked } = this;
    const box = this.proof;
    if (!answer.certificate) {
      box.className = "lab-proof lab-none";
      box.replaceChildren(make("h3", "", "No certificate"), make("p", "", answer.status));
      return;
    }
    const agree = checked && checked.holds === answer.verified;
    box.className = `lab-proof ${!checked ? "" : agree && checked.holds ? "lab-holds" : "lab-fails"}`;
    const say = (who, holds) => make("span", `lab-badge ${holds ? "lab-yes" : "lab-no"}`, `${holds ? "✓" : "✗"} ${who}`);
    const badges = make("p", "lab-badges", "", say("library", answer.verified));
    if (checked) badges.append(say("this page", checked.holds), make("span", "lab-small", agree ? "both checked it, and agree" : "they differ"));
    const trusted = [...new Set([...(checked?.trusted ?? []), ...answer.trusted])];
    const list = make("ul");
    for (const one of checked?.checks ?? []) list.append(make("li", one.holds ? "" : "lab-bad", `${one.holds ? "✓" : "✗"} ${one.name}: ${short(one.figure, 3)} ≤ ${short(one.allowed, 3)}`));
    const details = make("details", "", "", make("summary", "", "What was checked here"), list);
    details.open = this.opened ?? false;
    details.addEventListener("toggle", () => (this.opened = details.open));
    box.replaceChildren(make("h3", "", "Certificate"), make("p", "lab-claim", answer.claim), badges);
    if (trusted.length) box.append(make("p", "lab-small", `Taken on trust: ${trusted.join("; ")}.`));
    if (!answer.certified) box.append(make("p", "lab-small", answer.status));
    box.append(details);
  }

  // ------------------------------------------------------------------ what is drawn
  layers() {
    const { view, answer } = this;
    if (!answer || answer.algorithm !== this.id) return null;
    const same = this.points.length === this.app.store.points.length;
    return {
      grips: view.grips && ((map) => view.grips(map, this.settings)),
      pull: (...moved) => this.pull(...moved),
      under: view.under && ((pic, map) => view.under(pic, map, this)),
      over: view.over && ((pic, map) => view.over(pic, map, this)),
      styles: same && view.styles ? () => this.ranked(view.styles(this)) : undefined,
    };
  }
  /** The style of a drawn point: of points that were not learned from, faint. */
  ranked(style) {
    if (!this.rank) return style;
    return (i) => (this.rank.has(i) ? style(this.rank.get(i)) : { faint: true, size: 4 });
  }
  makeCharts() {
    this.charts.replaceChildren();
    const add = (title, height) => {
      const figure = make("figure", "lab-figure");
      if (title) figure.append(make("figcaption", "", title));
      const canvas = makeCanvas(figure, "lab-chart", title || "A curve over the steps");
      canvas.style.height = `${height}px`;
      this.charts.append(figure);
      return canvas;
    };
    this.panels = (this.view.panels ?? []).map((panel) => ({ ...panel, canvas: add(panel.title, panel.height) }));
    this.curves = this.view.curves ? [0, 1, 2].map(() => add("", 128)) : [];
    for (const canvas of this.curves) {
      const scrub = (event) => event.buttons && this.app.goTo(stepAt(event.offsetX, canvas.clientWidth, this.frames));
      canvas.addEventListener("pointerdown", scrub);
      canvas.addEventListener("pointermove", scrub);
    }
    for (const panel of this.panels.filter((one) => one.turn)) {
      panel.canvas.classList.add("lab-turn");
      panel.canvas.tabIndex = 0;
      const turn = (dx, dy) => {
        const { turn: a = 0.6, tilt: b = 0.45 } = this.pose ?? {};
        this.pose = { turn: a + dx, tilt: Math.max(0.05, Math.min(1.5, b + dy)) };
        this.app.paint();
      };
      panel.canvas.addEventListener("pointermove", (event) => event.buttons && turn(event.movementX / 90, event.movementY / 120));
      panel.canvas.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
        if (step) turn(...step), event.preventDefault();
      });
    }
  }
  draw() {
    const { answer, view, app } = this;
    this.plane.draw();
    const live = answer && answer.algorithm === this.id;
    if (live && view.curves && (this.drawn?.answer !== answer || this.drawn.colours !== app.colours)) {
      this.drawn = { answer, colours: app.colours, curves: view.curves(this, app.colours) };
    }
    const curves = live && view.curves ? this.drawn.curves : [];
    this.curves.forEach((canvas, i) => (canvas.parentElement.hidden = !curves[i])); // first: what is hidden moves the rest
    for (const { canvas, draw } of this.panels) drawOn(canvas, app.panelColours, (pic) => live && draw(pic, this));
    this.curves.forEach((canvas, i) => {
      if (curves[i]) drawOn(canvas, app.panelColours, (pic) => drawCurves(pic, curves[i], this.k));
    });
    // words last: canvases ask how large they are, and would have the page laid out anew for it
    this.sentence.textContent = live ? (answer.sentences[this.k] ?? answer.last) : "";
    const rows = live ? view.readouts(this) : [];
    this.readout.replaceChildren(...rows.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]));
    const theorems = live ? (view.theorems?.(this) ?? []) : [];
    this.theorem.replaceChildren(...theorems.map(({ text, holds }) => make("li", holds ? "lab-yes" : "lab-no", `${holds ? "✓" : "✗"} ${text}`)));
  }
}
