// Numbers without rounding: every float is a whole number over a power of two, and BigInt holds both.

const BUFFER = new DataView(new ArrayBuffer(8));

const greatest = (a, b) => {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
};

/** A number, or a fraction {n, d}, as a fraction of BigInts with d > 0. */
export function fraction(value) {
  if (typeof value === "object" && value !== null && "n" in value) return value;
  if (typeof value !== "number" || !Number.isFinite(value)) throw new Error("only finite numbers are exact");
  BUFFER.setFloat64(0, value);
  const bits = BUFFER.getBigUint64(0);
  const field = Number((bits >> 52n) & 0x7ffn);
  let n = bits & 0xfffffffffffffn;
  if (field) n |= 0x10000000000000n;
  const exponent = Math.max(field, 1) - 1075;
  if (bits >> 63n) n = -n;
  if (n === 0n) return { n, d: 1n };
  let down = BigInt(Math.max(0, -exponent));
  while (down > 0n && !(n & 1n)) (n >>= 1n), (down -= 1n);
  return { n: n << BigInt(Math.max(0, exponent)), d: 1n << down };
}

/** "-1f/3" in hexadecimal, as certificates write fractions. */
export function parseFraction(text) {
  const parts = /^(-?)([0-9a-f]+)\/([0-9a-f]+)$/.exec(text);
  const d = parts && BigInt(`0x${parts[3]}`);
  if (!d) throw new Error("not a fraction");
  const n = BigInt(`0x${parts[2]}`);
  return { n: parts[1] ? -n : n, d };
}

export const plus = (a, b) => (a.d === b.d ? { n: a.n + b.n, d: a.d } : { n: a.n * b.d + b.n * a.d, d: a.d * b.d });
export const minus = (a, b) => plus(a, { n: -b.n, d: b.d });
export const times = (a, b) => ({ n: a.n * b.n, d: a.d * b.d });
export const signOf = (a) => (a.n > 0n) - (a.n < 0n);
export const compare = (a, b) => signOf(minus(a, b));
export const ZERO = { n: 0n, d: 1n };

/** Lowest terms: sums of many terms would grow without end. */
export function reduced(a) {
  const common = greatest(a.n, a.d) || 1n;
  return { n: a.n / common, d: a.d / common };
}

/** The nearest float, but for its last bits. */
export function toNumber(a) {
  if (!a.n) return 0;
  const length = (v) => v.toString(16).length * 4;
  const size = a.n < 0n ? -a.n : a.n;
  const shift = 72 - (length(size) - length(a.d));
  const quotient = shift >= 0 ? (size << BigInt(shift)) / a.d : size / (a.d << BigInt(-shift));
  const drop = Math.max(0, length(quotient) - 64);
  let value = Number(quotient >> BigInt(drop));
  for (let left = drop - shift; left !== 0; ) {
    const part = Math.max(-1000, Math.min(1000, left));
    value *= 2 ** part;
    left -= part;
  }
  return a.n < 0n ? -value : value;
}

/** w.x + b without rounding, for numbers or fractions. */
export function exactScore(x, w, b) {
  let total = fraction(b);
  for (let j = 0; j < x.length; j++) {
    if (x[j] !== 0) total = plus(total, times(fraction(x[j]), fraction(w[j])));
  }
  return total;
}

/** -1, 0 or +1 for each row: the sign of w.x + b; in floats where these are sure, exactly elsewhere. */
export function exactSigns(rows, w, b) {
  const floats = [...w, b].every((v) => typeof v === "number");
  return rows.map((x) => {
    if (floats) {
      let score = b;
      let size = Math.abs(b);
      for (let j = 0; j < x.length; j++) {
        score += x[j] * w[j];
        size += Math.abs(x[j] * w[j]);
      }
      const error = (x.length + 6) * (2.3e-16 * size + 1e-300);
      if (Math.abs(score) > error) return Math.sign(score);
    }
    return signOf(exactScore(x, w, b));
  });
}
