// The lab: the shell around plane, panes, time line and lessons. The default export is what every host calls.
import { PRESETS, fromFragment } from "./data.js";
import { readLesson, solved } from "./lessons.js";
import { Store } from "./plane.js";
import { Pane, make, makeButton } from "./pane.js";
import { copyLink, copyPython, saveFilm, savePng, saveSvg } from "./takeaway.js";
import { readFile } from "./tables.js";
import { Timeline } from "./timeline.js";
import { VIEWS } from "./views.js";
import "./walks.js";
import "./margins.js";
import "./likelihoods.js";
import "./formulas.js";

const TOOLS = {
  draw: ["Draw", "Click or drag to add points of the chosen class"],
  spray: ["Spray", "Scatter noise: random points about the pointer"],
  move: ["Move", "Drag a point, or all that are selected"],
  lasso: ["Lasso", "Draw around points to select them; then drag, delete or recolour them"],
  erase: ["Erase", "Rub points out"],
};
const COLOURS = ["paper", "panel", "ink", "soft", "rule"];
const CLASS_COLOURS = ["a", "b", "c", "d", "e", "f"];
const HELP = "Arrow keys move a cross over the plane, Enter draws a point there or takes one up, Delete erases, 1 to 6 choose the class, Home and End go to the first and last step.";
const DARK = matchMedia("(prefers-color-scheme: dark)");
const SOON = 50; // milliseconds: a notebook may put the lab on its page, or load its styles, after it has begun
let serial = 0;

class App {
  constructor(model, el) {
    const start = model.get("start") ?? {};
    Object.assign(this, { model, el, start, tool: "draw", colour: 0, panes: [], busy: false, pending: false, note: "", tasks: [], tag: Math.random().toString(36).slice(2) });
    this.helpId = `lab-help-${++serial}`;
    this.store = new Store();
    this.time = new Timeline(this);
    this.root = make("div", "lab");
    const help = make("p", "lab-hidden", HELP);
    help.id = this.helpId;
    this.banner = make("p", "lab-banner");
    this.banner.setAttribute("role", "status");
    this.banner.hidden = true;
    this.main = make("div", "lab-main");
    this.lessonBox = make("aside", "lab-lesson");
    this.lessonBox.hidden = true;
    this.root.append(this.header(), this.banner, this.toolbar(), make("div", "lab-work", "", this.main, this.lessonBox), this.time.el, help, (this.dialog = make("dialog", "lab-dialog")));
    el.replaceChildren(this.root);
    el.lab = this; // for whoever looks at it from outside: tests, and the console
    this.theme();
    const { signal } = (this.ending = new AbortController());
    const again = () => (this.theme(), this.paint());
    DARK.addEventListener("change", again, { signal });
    const watch = new MutationObserver(again);
    watch.observe(document.body, { attributeFilter: ["class", "data-jp-theme-light"] });
    signal.addEventListener("abort", () => watch.disconnect());
    if (!start.notebook) addEventListener("hashchange", () => location.hash.startsWith("#lab=") && this.begin(), { signal });
    new ResizeObserver(again).observe(this.root);
    this.store.heard.push((draft) => this.changed(draft));
    this.model.on("msg:custom", (message) => this.panes[+String(message.id).split(".")[0]]?.hear(message));
    (start.notebook ? this.root : document).addEventListener("keydown", (event) => this.keys(event), { signal });
    this.root.addEventListener("dragover", (event) => event.preventDefault());
    this.root.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files[0]) readFile(this, event.dataTransfer.files[0]);
    });
  }

  async begin() {
    let state = null;
    try {
      state = this.start.notebook ? null : await fromFragment(location.hash);
    } catch {
      this.say("The link could not be read; here are other points.");
    }
    for (const pane of this.panes.splice(0)) pane.el.remove();
    const views = state?.panes?.filter((one) => one.id in VIEWS) ?? [];
    for (const one of views.length ? views.slice(0, 2) : [{ id: "perceptron" }]) this.addPane(one.id, one.settings);
    if (state) this.store.load(state.points.map(([x, y, c]) => ({ x, y, c })), state.names, state.labels);
    else if (this.start.X?.length) this.store.load(this.start.X.map(([x, y], i) => ({ x, y, c: this.start.y[i] })), this.start.names, this.start.classes);
    else this.store.load(PRESETS.separable.make());
    if (!state && this.start.note) this.say(this.start.note);
    this.store.past = [];
    this.refresh();
  }

  /** The colours: dark where the notebook is, which has a theme of its own, or else where the machine is. */
  theme() {
    const { className, dataset } = document.body;
    const said = /\b(dark|light)\b/.exec(`${{ true: "light", false: "dark" }[dataset.jpThemeLight]} ${className}`);
    this.root.classList.toggle("lab-dark", said ? said[0] === "dark" : DARK.matches);
    const css = getComputedStyle(this.root);
    const read = (name) => css.getPropertyValue(`--lab-${name}`).trim();
    const colours = Object.fromEntries(COLOURS.map((name) => [name, read(name)]));
    colours.classes = CLASS_COLOURS.map(read);
    colours.rgb = colours.classes.map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
    colours.tint = "rgba(128, 128, 128, 0.12)";
    this.colours = colours;
    this.panelColours = { ...colours, paper: colours.panel };
  }

  // ------------------------------------------------------------------ the top
  header() {
    const button = (text, title, act) => makeButton(text, title, act, "lab-button");
    this.besideButton = button("Compare", "A second algorithm on the same points", () => this.beside());
    const lessons = make("select", "lab-lessons");
    lessons.append(new Option("Lessons …", ""));
    (this.start.lessons ?? []).forEach((lesson, i) => lessons.append(new Option(lesson.title, i)));
    lessons.setAttribute("aria-label", "Open a lesson beside the plane");
    lessons.addEventListener("change", () => this.openLesson(lessons.value === "" ? null : this.start.lessons[+lessons.value]));
    lessons.hidden = !this.start.lessons?.length;
    this.lessonSelect = lessons;
    const actions = make("div", "lab-actions", "", this.besideButton, lessons,
      button("Python", "Code that makes this fit, to the last bit", () => copyPython(this)),
      ...(this.start.notebook ? [] : [button("Link", "A link that holds these points and settings", () => copyLink(this))]),
      button("PNG", "The plane as a picture", () => savePng(this)),
      button("SVG", "The plane as a drawing", () => saveSvg(this)),
      button("Film", "The steps as a video", () => saveFilm(this)));
    return make("header", "lab-top", "", make("h1", "", "separatrix lab"), actions);
  }
  toolbar() {
    const bar = make("div", "lab-tools");
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", "Tools of the plane");
    this.toolButtons = {};
    const tools = make("div", "lab-group");
    for (const [name, [text, title]] of Object.entries(TOOLS)) {
      this.toolButtons[name] = makeButton(text, title, () => this.use(name));
      tools.append(this.toolButtons[name]);
    }
    this.classBox = make("div", "lab-group lab-classes");
    const history = make("div", "lab-group");
    for (const [text, title, act] of [["Undo", "Undo (Ctrl+Z)", () => this.store.undo()], ["Redo", "Redo (Ctrl+Y)", () => this.store.redo()], ["Clear", "Erase all points", () => (this.store.keep(), this.store.set([]))]]) {
      history.append(makeButton(text, title, act));
    }
    const data = make("select", "lab-data");
    data.setAttribute("aria-label", "Load data");
    data.append(new Option("Data …", ""), ...Object.entries(PRESETS).map(([id, one]) => new Option(one.title, id)), new Option("A table (CSV) …", "csv"));
    data.addEventListener("change", () => {
      if (data.value === "csv") this.file.click();
      else if (data.value) this.preset(data.value);
      data.value = "";
    });
    this.file = make("input");
    Object.assign(this.file, { type: "file", accept: ".csv,.tsv,.txt", hidden: true });
    this.file.addEventListener("change", () => this.file.files[0] && readFile(this, this.file.files[0]));
    this.columnBox = make("div", "lab-group lab-columns");
    bar.append(tools, this.classBox, history, make("div", "lab-group", "", data, this.file), this.columnBox);
    return bar;
  }
  use(tool) {
    this.tool = tool;
    this.refresh();
  }
  /** Draw this class from now on; points that are selected become it. */
  choose(c) {
    this.colour = c;
    const { store } = this;
    if (store.selected.size) store.keep(), store.set(store.points.map((p, i) => (store.selected.has(i) ? { ...p, c } : p)));
    this.refresh();
  }
  refresh() {
    for (const [name, button] of Object.entries(this.toolButtons)) button.setAttribute("aria-pressed", String(name === this.tool));
    this.columnBox.hidden = this.store.labels !== this.tableLabels; // other points are there now
    const used = Math.max(1, this.colour, ...this.store.points.map((p) => p.c));
    const shown = Math.min(6, used + 2);
    this.classBox.replaceChildren(...Array.from({ length: shown }, (_, c) => {
      const name = this.store.nameOf(c);
      const title = c > used ? "Another class" : `Draw points of class ${name} (key ${c + 1})`;
      const one = makeButton(c > used ? "+" : name, title, () => this.choose(c), `lab-class lab-class-${c}`);
      one.setAttribute("aria-pressed", String(c === this.colour));
      return one;
    }));
    this.paint();
  }
  selected() {
    this.refresh();
  }

  // ------------------------------------------------------------------ panes
  addPane(id, settings = {}) {
    const pane = new Pane(this, id, settings);
    this.panes.push(pane);
    this.main.append(pane.el);
    this.root.classList.toggle("lab-two", this.panes.length > 1);
    this.besideButton.setAttribute("aria-pressed", String(this.panes.length > 1));
    return pane;
  }
  beside() {
    if (this.panes.length > 1) {
      this.panes.pop().el.remove();
      this.root.classList.remove("lab-two");
      this.besideButton.setAttribute("aria-pressed", "false");
    } else this.addPane(this.panes[0].id === "logistic" ? "perceptron" : "logistic").ask(false);
    this.paint();
  }
  preset(name) {
    this.store.load(PRESETS[name].make(), PRESETS[name].names);
    this.refresh();
  }
  changed(draft) {
    this.busy = draft;
    for (const pane of this.panes) pane.ask(draft);
    this.paint();
    if (!draft) this.refresh();
  }
  answered() {
    this.time.setLength();
    this.paint();
  }
  /** Nobody answers: say so above all else, until somebody does. */
  lose(sentence) {
    this.say(this.note, sentence);
  }
  find() {
    if (this.lost) this.say(this.note);
  }
  say(note, lost = "") {
    Object.assign(this, { note, lost });
    this.banner.textContent = lost || note;
    this.banner.hidden = !this.banner.textContent;
  }

  // ------------------------------------------------------------------ pictures
  goTo(k) {
    this.time.goTo(k);
  }
  /** Draw everything anew, once for however many changes there were since the last picture. */
  paint() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      if (!this.colours.ink) this.theme();
      if (!this.colours.ink) return void setTimeout(() => this.paint(), SOON);
      for (const pane of this.panes) pane.draw();
      this.learned();
    });
  }
  keys(event) {
    const control = event.ctrlKey || event.metaKey;
    if (!control || event.target.matches("input[type=number], textarea")) return; // where text is written, its own is undone
    const key = event.key.toLowerCase(); // Shift makes it a Z
    if (key === "z" && !event.shiftKey) this.store.undo();
    else if (key === "y" || key === "z") this.store.redo();
    else return;
    event.preventDefault();
  }

  // ------------------------------------------------------------------ lessons
  openLesson(lesson) {
    this.lessonBox.hidden = !lesson;
    this.tasks = [];
    if (!lesson) return this.paint();
    const given = () => (this.given = [this.store.points, this.panes[0].settings]);
    given();
    const { nodes, tasks } = readLesson(lesson.text, (words) => {
      this.stage(words);
      given();
      this.panes[0].stage.scrollIntoView({ block: "nearest" });
    });
    const close = makeButton("Close", "Close the lesson", () => ((this.lessonSelect.value = ""), this.openLesson(null)), "lab-button");
    this.lessonBox.replaceChildren(close, ...nodes);
    this.tasks = tasks;
    if (getComputedStyle(this.lessonBox).position === "static") this.lessonBox.scrollIntoView(); // below the plane
    this.paint();
  }
  stage({ data, algorithm, ...settings }) {
    const pane = this.panes[0];
    const read = (text) => (/^-?[\d.]+,/.test(text) ? text.split(",").map(Number) : text === "null" ? null : text === "true" ? true : text === "false" ? false : Number.isNaN(Number(text)) ? text : Number(text));
    pane.settings = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, read(value)]));
    if (algorithm in VIEWS) pane.setAlgorithm(algorithm);
    if (data in PRESETS) this.preset(data);
    else pane.ask(false);
  }
  /** What a link holds. */
  state() {
    const { points, names, labels } = this.store;
    return { points: points.map((p) => [p.x, p.y, p.c]), names, labels, panes: this.panes.map(({ id, settings }) => ({ id, settings })) };
  }
  /** Tick what is solved; what the lesson put there, or found there, is no answer yet. */
  learned() {
    if (!this.tasks.length || this.panes[0].asked?.every((one, i) => one === this.given[i])) return;
    for (const task of this.tasks) {
      if (solved(task.name, this.panes[0])) task.li.classList.add("lab-solved");
    }
  }
}

export default {
  render({ model, el }) {
    const app = new App(model, el);
    app.ready = app.begin();
    return () => (app.ending.abort(), app.time.play(false), el.replaceChildren());
  },
};
