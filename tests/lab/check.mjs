// Reads {modules, cases: [{certificate, X, y}]} from standard input and writes what the page's checker says of each.
import { readFileSync } from "node:fs";

const { checker, cases } = JSON.parse(readFileSync(0, "utf8"));
const { verify } = await import(checker);
process.stdout.write(JSON.stringify(cases.map(({ certificate, X, y }) => verify(certificate, X, y))));
