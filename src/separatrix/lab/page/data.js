// The points: data of the lecture notes, tables dropped on the page, and links that hold both.

export const MOST_CLASSES = 6;
const ROWS = 100000; // of a table that is read
const DRAWN = 5000; // points of a table that are drawn: more would hide each other
const LINK = 60000; // characters of a link

/** Random numbers that are the same everywhere (Mulberry32), and normal ones of them. */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}

const rounded = (v) => Math.round(v * 100) / 100;

function cloud(seed, n, parts) {
  const { normal } = randomNumbers(seed);
  return parts.flatMap(([x, y, spread, c]) =>
    Array.from({ length: n }, () => ({ x: rounded(x + spread * normal()), y: rounded(y + spread * normal()), c })),
  );
}

function around(seed, n, make) {
  const { uniform, normal } = randomNumbers(seed);
  return Array.from({ length: n }, (_, i) => make(i / n, uniform, normal)).map((p) => ({ ...p, x: rounded(p.x), y: rounded(p.y) }));
}

const listed = (text, c) => text.split(" ").map((pair) => ({ x: +pair.split(",")[0], y: +pair.split(",")[1], c }));

/** The corners z of {0, 1}³ in a plane: how many ones, upward, and z₃ − z₁, across. What counts ones stays linear. */
const SHADOW = ["z₃ − z₁", "z₁ + z₂ + z₃"];
function cube(rule) {
  const corners = Array.from({ length: 8 }, (_, k) => [k >> 2, (k >> 1) & 1, k & 1]);
  return corners.map(([a, b, c]) => ({ x: c - a, y: a + b + c, c: +rule(a + b + c) }));
}

export const PRESETS = {
  separable: { title: "Separable", make: () => cloud(7, 20, [[1, 1.2, 0.5, 0], [3.5, 3.2, 0.5, 1]]) },
  overlapping: { title: "Overlapping", make: () => cloud(3, 30, [[-0.8, -0.4, 1, 0], [0.9, 0.5, 1, 1]]) },
  xor: { title: "XOR: four points", make: () => [...listed("0,0 1,1", 0), ...listed("0,1 1,0", 1)] },
  or: { title: "1 of 2 (OR)", make: () => [...listed("0,0", 0), ...listed("0,1 1,0 1,1", 1)] },
  and: { title: "2 of 2 (AND)", make: () => [...listed("0,0 0,1 1,0", 0), ...listed("1,1", 1)] },
  cube: { title: "2 of 3: a cube", names: SHADOW, make: () => cube((ones) => ones >= 2) },
  parity: { title: "Odd of 3: a cube", names: SHADOW, make: () => cube((ones) => ones % 2 === 1) },
  moons: {
    title: "Two moons",
    make: () =>
      [0, 1].flatMap((c) =>
        around(11 + c, 40, (t, _, normal) => {
          const a = Math.PI * t;
          const [x, y] = c ? [1 - Math.cos(a), 0.5 - Math.sin(a)] : [Math.cos(a), Math.sin(a)];
          return { x: 2 * x - 1 + 0.14 * normal(), y: 2 * y - 0.5 + 0.14 * normal(), c };
        }),
      ),
  },
  circle: {
    title: "A disc in a ring",
    make: () =>
      [0, 1].flatMap((c) =>
        around(21 + c, 30, (t, uniform, normal) => {
          const [a, r] = [2 * Math.PI * uniform(), c ? 2.4 + 0.15 * normal() : 1.1 * Math.sqrt(uniform())];
          return { x: r * Math.cos(a), y: r * Math.sin(a), c };
        }),
      ),
  },
  outlier: {
    title: "A far outlier",
    make: () => [...cloud(5, 14, [[-1.2, 0, 0.45, 0], [1.2, 0.2, 0.45, 1]]), { x: 9, y: -4, c: 1 }],
  },
  eighteen: {
    title: "Nine and nine",
    make: () => [
      ...listed("1.2,3.6 2.1,4.4 1.7,2.7 2.8,3.5 3.2,4.7 2.4,1.9 3.6,3 4.1,4.1 4.4,2.2", 1),
      ...listed("2.9,1.2 3.8,0.7 4.6,1.3 5.3,2 3.3,2.3 5.9,0.9 5.1,3.1 6.2,2.5 4.2,3.3", 0),
    ],
  },
  three: { title: "Three classes", make: () => cloud(9, 18, [[-1.7, -0.9, 0.7, 0], [1.7, -0.8, 0.7, 1], [0, 1.7, 0.7, 2]]) },
};

// ---------------------------------------------------------------------- tables
/** {header, rows} of a text with , ; or tab between its cells; quotes may hold any of them. */
export function parseTable(text) {
  const first = text.slice(0, 2000).split(/\r?\n/)[0];
  const comma = [",", ";", "\t"].sort((a, b) => first.split(b).length - first.split(a).length)[0];
  const rows = [[]];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const ch = text[i];
    if (quoted) {
      if (ch === '"' && text[i + 1] === '"') (cell += ch), i++;
      else if (ch === '"') quoted = false;
      else cell += ch;
    } else if (ch === '"' && !cell) quoted = true;
    else if (ch === comma) rows.at(-1).push(cell.trim()), (cell = "");
    else if (ch === "\n") rows.at(-1).push(cell.trim()), (cell = ""), rows.push([]);
    else if (ch !== "\r") cell += ch;
    if (rows.length > ROWS + 2) throw new Error(`The table has more than ${ROWS.toLocaleString("en")} rows; the lab reads up to so many.`);
  }
  rows.at(-1).push(cell.trim());
  const full = rows.filter((row) => row.some((entry) => entry !== ""));
  if (full.length < 3) throw new Error("This file has no table in it: a line of names, then lines of values.");
  return { header: full[0], rows: full.slice(1).map((row) => full[0].map((_, j) => row[j] ?? "")) };
}

const numeric = (text) => text !== "" && Number.isFinite(Number(text));

/** Which columns can be drawn, which can be labels, and a choice of each; a sentence if there are too few. */
export function tableColumns({ header, rows }) {
  const filled = header.map((_, j) => rows.filter((row) => numeric(row[j])).length);
  const numbers = header.map((_, j) => j).filter((j) => filled[j] >= 0.8 * rows.length);
  const kinds = header.map((_, j) => new Set(rows.map((row) => row[j]).filter(Boolean)).size);
  const labels = header.map((_, j) => j).filter((j) => kinds[j] >= 2 && kinds[j] <= MOST_CLASSES);
  if (numbers.length < 2) {
    throw new Error(`The lab draws two columns of numbers; this table has ${numbers.length || "none"}: ${header.slice(0, 8).join(", ")} hold text.`);
  }
  if (!labels.length) throw new Error(`No column has 2 to ${MOST_CLASSES} different values, so none can be the classes.`);
  const words = labels.filter((j) => !numbers.includes(j));
  const label = words.at(-1) ?? labels.at(-1);
  const [x, y] = numbers.filter((j) => j !== label);
  if (y === undefined) throw new Error("Besides the classes this table has fewer than two columns of numbers.");
  return { numbers, labels, chosen: { x, y, label } };
}

/** The points of three columns, rows with gaps left out; and the names of the classes. */
export function tablePoints({ header, rows }, { x, y, label }) {
  const kept = rows.filter((row) => numeric(row[x]) && numeric(row[y]) && row[label]);
  const classes = [...new Set(kept.map((row) => row[label]))].sort((a, b) => a - b || (a < b ? -1 : 1)); // 10 after 2
  const share = Math.min(1, DRAWN / kept.length);
  const seen = new Map(classes.map((name) => [name, -1]));
  const drawn = kept.filter((row) => {
    const i = seen.get(row[label]) + 1; // the row is the i-th of its class: of these evenly many, and the first
    seen.set(row[label], i);
    return Math.floor(i * share) !== Math.floor((i - 1) * share);
  });
  const notes = [];
  if (kept.length < rows.length) notes.push(`Rows with gaps in these columns are left out: ${rows.length - kept.length}.`);
  if (drawn.length < kept.length) notes.push(`Of ${kept.length.toLocaleString("en")} rows ${drawn.length.toLocaleString("en")} are drawn, evenly taken from each class.`);
  return {
    notes,
    points: drawn.map((row) => ({ x: Number(row[x]), y: Number(row[y]), c: classes.indexOf(row[label]) })),
    names: [header[x], header[y]],
    classes,
  };
}

// ---------------------------------------------------------------------- links
const stream = async (bytes, through) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(through)).arrayBuffer());

/** The state as the fragment of a link. */
export async function toFragment(state) {
  const bytes = await stream(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  let text = "";
  bytes.forEach((byte) => (text += String.fromCharCode(byte)));
  const fragment = btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (fragment.length > LINK) throw new Error("These points are too many for a link: save them with Copy as Python.");
  return `lab=${fragment}`;
}

/** The state that a fragment holds; null if it holds none. */
export async function fromFragment(fragment) {
  const found = /^#?lab=([\w-]+)$/.exec(fragment);
  if (!found) return null;
  const text = atob(found[1].replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(text, (ch) => ch.charCodeAt(0));
  const state = JSON.parse(new TextDecoder().decode(await stream(bytes, new DecompressionStream("deflate-raw"))));
  const { points, panes = [], names, labels } = state;
  const lists = (one, good) => Array.isArray(one) && one.every(good);
  const good = [
    lists(points, (p) => lists(p, Number.isFinite) && p.length === 3 && Number.isInteger(p[2]) && p[2] >= 0 && p[2] < MOST_CLASSES),
    lists(panes, (one) => one && typeof one === "object"),
    ...[names, labels].map((list) => list === undefined || lists(list, (name) => typeof name === "string")),
  ];
  if (!good.every(Boolean)) throw new Error("This link holds no points.");
  return state;
}
