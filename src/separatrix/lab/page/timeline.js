// The time line: play, pause, step, scrub; one for all panes, each held at its own last step.
import { make, makeButton } from "./pane.js";

const FRAMES_PER_SECOND = [1, 3, 8, 20, 60];

export class Timeline {
  constructor(app) {
    Object.assign(this, { app, playing: false, speed: 2, pace: FRAMES_PER_SECOND[2] });
    const bar = (this.el = make("div", "lab-time"));
    const button = (text, label, act) => {
      const one = makeButton(text, label, act);
      one.setAttribute("aria-label", label);
      return one;
    };
    this.playButton = button("Play", "Play", () => this.play(!this.playing));
    this.scrubber = make("input", "lab-scrubber");
    Object.assign(this.scrubber, { type: "range", min: 0, max: 0, step: 1, value: 0 });
    this.scrubber.setAttribute("aria-label", "Step");
    this.scrubber.addEventListener("input", () => (this.play(false), this.goTo(+this.scrubber.value)));
    this.stepText = make("output", "lab-step");
    const speed = make("select", "lab-speed");
    speed.setAttribute("aria-label", "Speed");
    FRAMES_PER_SECOND.forEach((n, i) => speed.append(new Option(`${n}/s`, i, i === 2, i === 2)));
    speed.addEventListener("change", () => ((this.speed = +speed.value), (this.pace = FRAMES_PER_SECOND[this.speed])));
    bar.append(button("|‹", "First step", () => this.goTo(0)), button("‹", "One step back", () => this.step(-1)), this.playButton, button("›", "One step on", () => this.step(1)), button("›|", "Last step", () => this.goTo(Infinity)), this.scrubber, this.stepText, speed);
  }
  get length() {
    return Math.max(1, ...this.app.panes.map((pane) => pane.frames));
  }
  get k() {
    return Math.max(0, ...this.app.panes.map((pane) => pane.k));
  }
  goTo(k) {
    for (const pane of this.app.panes) pane.k = Math.max(0, Math.min(k, pane.frames - 1));
    this.setLength();
    this.app.paint();
  }
  step(by) {
    this.play(false);
    this.goTo(this.k + by);
  }
  setLength() {
    this.scrubber.max = this.length - 1;
    this.scrubber.value = this.k;
    for (const control of this.el.querySelectorAll("button, input")) control.disabled = this.length < 2;
    this.stepText.textContent = this.length > 1 ? `${this.k} / ${this.length - 1}` : "no steps";
  }
  /** Play at the chosen speed, or at another number of steps in a second. */
  play(on, pace = null) {
    this.pace = pace ?? FRAMES_PER_SECOND[this.speed];
    this.playing = on && this.length > 1;
    if (this.playing && this.k >= this.length - 1) this.goTo(0);
    this.playButton.textContent = this.playing ? "Pause" : "Play";
    this.playButton.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.last = performance.now();
    if (this.playing) requestAnimationFrame((now) => this.tick(now));
  }
  tick(now) {
    if (!this.playing) return;
    const steps = Math.floor(((now - this.last) / 1000) * this.pace);
    if (steps > 0) {
      this.last = now;
      this.goTo(this.k + steps);
      if (this.k >= this.length - 1) return this.play(false);
    }
    requestAnimationFrame((next) => this.tick(next));
  }
}
