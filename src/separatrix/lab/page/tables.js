// Tables dropped on the page.
import { parseTable, tableColumns, tablePoints } from "./data.js";
import { make } from "./pane.js";

const BYTES = 2e7; // of a file

/** Draw a dropped table, or say why it cannot be drawn. */
export async function readFile(app, file) {
  try {
    if (file.size > BYTES) throw new Error("This file is larger than 20 MB; the lab draws small tables.");
    const table = parseTable(await file.text());
    const { numbers, labels, chosen } = tableColumns(table);
    app.say("");
    showColumns(app, table, numbers, labels, chosen);
  } catch (error) {
    app.say(error.message);
  }
  app.file.value = "";
}

/** Which columns are drawn can be chosen; the points follow. */
function showColumns(app, table, numbers, labels, chosen) {
  const show = () => {
    const { points, names, classes, notes } = tablePoints(table, chosen);
    app.store.load(points, names, (app.tableLabels = classes));
    app.say(notes.join(" "));
    app.refresh();
  };
  const field = (key, text, columns) => {
    const select = make("select");
    columns.forEach((j) => select.append(new Option(table.header[j], j, false, j === chosen[key])));
    select.addEventListener("change", () => ((chosen[key] = +select.value), show()));
    return make("label", "lab-field", `${text} `, select);
  };
  app.columnBox.replaceChildren(field("x", "across", numbers), field("y", "up", numbers), field("label", "classes", labels));
  show();
}
