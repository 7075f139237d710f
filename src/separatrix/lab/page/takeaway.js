// What can be taken away: code, a link, a picture, a drawing, a film.
import { toFragment } from "./data.js";
import { SvgPicture } from "./picture.js";
import { mapping } from "./plane.js";
import { make, makeButton } from "./pane.js";

const SECONDS = 10; // of a film

function show(app, title, text) {
  const area = make("textarea");
  Object.assign(area, { value: text, readOnly: true, rows: 14 });
  const done = make("p", "lab-small");
  const close = makeButton("Close", "Close this window", () => app.dialog.close(), "lab-button");
  app.dialog.replaceChildren(make("h2", "", title), area, done, close);
  app.dialog.showModal();
  area.select();
  navigator.clipboard?.writeText(text).then(() => (done.textContent = "Copied."), () => (done.textContent = "Press Ctrl+C to copy."));
}
export function copyPython(app) {
  const scripts = app.panes.map((pane) => pane.answer?.python).filter(Boolean);
  if (scripts.length) show(app, "This fit in Python", scripts.join("\n"));
  else app.say("There is no fit to copy yet.");
}
export async function copyLink(app) {
  try {
    const address = new URL(location.href);
    address.hash = await toFragment(app.state());
    history.replaceState(null, "", address);
    show(app, "A link to these points", String(address));
  } catch (error) {
    app.say(error.message);
  }
}
function download(url, name) {
  const link = make("a");
  Object.assign(link, { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
/** The planes of all panes, side by side, as the text of an SVG. */
export function svg(app) {
  const sizes = app.panes.map(({ plane: { canvas } }) => [canvas.clientWidth, canvas.clientHeight]);
  const whole = new SvgPicture(sizes.reduce((total, [width]) => total + width, 0), Math.max(...sizes.map((size) => size[1])), app.colours);
  let left = 0;
  app.panes.forEach(({ plane }, i) => {
    const picture = new SvgPicture(...sizes[i], app.colours);
    plane.render(picture, mapping(app.store.window, ...sizes[i]));
    whole.parts.push(`<svg x="${left}" width="${sizes[i][0]}" height="${sizes[i][1]}">${picture.parts.join("")}</svg>`);
    left += sizes[i][0];
  });
  return whole.toString();
}
export function saveSvg(app) {
  download(URL.createObjectURL(new Blob([svg(app)], { type: "image/svg+xml" })), "separatrix-lab.svg");
}
/** The planes on their paper: a canvas without one would be transparent. */
function flat(app, target = document.createElement("canvas")) {
  const canvases = app.panes.map((pane) => pane.plane.canvas);
  const [width, height] = [canvases.reduce((total, one) => total + one.width, 0), Math.max(...canvases.map((one) => one.height))];
  if (target.width !== width || target.height !== height) Object.assign(target, { width, height });
  const context = target.getContext("2d");
  context.fillStyle = app.colours.paper;
  context.fillRect(0, 0, width, height);
  canvases.reduce((left, one) => (context.drawImage(one, left, 0), left + one.width), 0);
  return target;
}
export function savePng(app) {
  flat(app).toBlob((blob) => download(URL.createObjectURL(blob), "separatrix-lab.png"));
}
/** All steps as a video of `SECONDS` at most: it is recorded as it plays. */
export function saveFilm(app) {
  const type = ["video/webm", "video/mp4"].find((one) => globalThis.MediaRecorder?.isTypeSupported(one));
  if (!type) return app.say("This browser cannot record a film.");
  const target = flat(app);
  const recorder = new MediaRecorder(target.captureStream(30), { mimeType: type });
  const parts = [];
  recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
  recorder.addEventListener("stop", () => {
    download(URL.createObjectURL(new Blob(parts, { type })), `separatrix-lab.${type.slice(6)}`);
    app.say("");
  });
  app.say("Recording the steps …");
  recorder.start();
  app.goTo(0);
  app.time.play(true, Math.max(app.time.pace, app.time.length / SECONDS));
  const copy = () => {
    flat(app, target);
    if (app.time.playing) requestAnimationFrame(copy);
    else setTimeout(() => (flat(app, target), recorder.stop()), 500);
  };
  requestAnimationFrame(copy);
}
