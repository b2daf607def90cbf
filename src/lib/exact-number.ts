/** A string of JSON, or a number. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Replaces the numbers of a JSON text. Other JSON, or a JSON string, may take their places. */
export function replaceNumbers(json: string, replace: (number: string) => string): string {
  return json.replaceAll(TOKEN, (token) => (token.startsWith('"') ? token : replace(token)));
}

/** The first number in a JSON text that its double changes, as it is written there. */
export function findInexactNumber(json: string): string | undefined {
  for (const [token] of json.matchAll(TOKEN)) {
    if (!token.startsWith('"') && !isExactNumber(token)) return token;
  }
  return undefined;
}

/** Whether the shortest form of the number's double is the same decimal value: `1.10` and `1e2`, but not `1e999`. */
export function isExactNumber(source: string): boolean {
  return toDecimal(source) === toDecimal(String(Number(source)));
}

/** The digits without zeros at either end, and the power of ten of the last one. */
function toDecimal(source: string): string | undefined {
  const [, sign, whole, fraction = "", exponent = "0"] = NUMBER.exec(source) ?? [];
  if (whole === undefined) return undefined;
  const digits = whole + fraction;
  const last = lastDigit(digits);
  if (last < 0) return "0";
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - 1 - last);
  return `${sign}${digits.slice(0, last + 1).replace(/^0+/, "")}e${power}`;
}

/** A pattern such as `/0+$/` would take quadratic time. */
function lastDigit(digits: string): number {
  let at = digits.length - 1;
  while (digits[at] === "0") at -= 1;
  return at;
}
