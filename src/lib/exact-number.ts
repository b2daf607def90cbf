import { isExactNumber } from "./json-numbers.ts";

/** A string of JSON, or a number. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

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
