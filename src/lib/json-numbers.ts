/** Only numbers with 16 digits or an exponent can be inexact: most texts have none, and are read no further. */
const MAY_BE_INEXACT = /\d[\d.]{15}|\d[eE][+-]?\d/;
/** Up to the end of a text that is not valid JSON. */
const STRING = '"(?:[^"\\\\]|\\\\.)*"?';
const STRINGS_AND_NUMBERS = new RegExp(`${STRING}|-?\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?`, "gs");
const STRINGS_AND_STRUCTURE = new RegExp(`${STRING}|[{}[\\],]`, "gs");
const PARTS = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

export interface InexactNumber {
  /** Separated by dots: `patch.0.value`. */
  path: string;
  /** The double that the number would become. */
  becomes: number;
}

/**
 * The first number of the JSON that is not the decimal value of its double in the shortest form: 0.1, 1.10 and 1e2 are,
 * 12345678901234567890 and 1e999 are not. The `source` that a reviver of JSON.parse gets takes 20 times as long.
 */
export function findInexactNumber(json: string): InexactNumber | undefined {
  if (!MAY_BE_INEXACT.test(json)) return undefined;
  for (const { 0: token, index } of json.matchAll(STRINGS_AND_NUMBERS)) {
    if (token.startsWith('"')) continue;
    if (isExactNumber(token)) continue;
    return { path: pathAt(json.slice(0, index)), becomes: Number(token) };
  }
  return undefined;
}

/** Whether the shortest form of the number's double is the same decimal value: `1.10` and `1e2`, but not `1e999`. */
export function isExactNumber(number: string): boolean {
  return decimalOf(number) === decimalOf(String(Number(number)));
}

/** The same text for the same value. `Infinity` has none. */
function decimalOf(number: string): string | undefined {
  const [matched, whole = "", fraction = "", exponent = "0"] = PARTS.exec(number) ?? [];
  if (matched === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  if (end === 0) return "0";
  return `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** The keys and indexes around the end of the beginning of a JSON text. */
function pathAt(beginning: string): string {
  const path: (string | number)[] = [];
  for (const [token] of beginning.matchAll(STRINGS_AND_STRUCTURE)) {
    const last = path.at(-1);
    if (token === "{") path.push("");
    else if (token === "[") path.push(0);
    else if (token === "}" || token === "]") path.pop();
    else if (token !== "," && typeof last === "string") path[path.length - 1] = token.slice(1, -1);
    else if (token === "," && typeof last === "number") path[path.length - 1] = last + 1;
  }
  return path.join(".");
}
