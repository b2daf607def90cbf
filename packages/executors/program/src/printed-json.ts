import { randomUUID } from "node:crypto";
import { replaceNumbers } from "../../../../src/lib/exact-number.ts";

/** No text of a tool begins with it. */
const MARK = `${randomUUID()}:`;

/**
 * What a tool prints as JSON. A number that JavaScript would write with other digits, such as 12345678901234567890, is a
 * text that only `toPrinted` reads.
 */
export function parsePrinted(json: string): unknown {
  return JSON.parse(
    replaceNumbers(json, (number) =>
      JSON.stringify(Number(number)) === number ? number : `"${MARK}${number}"`,
    ),
  );
}

/** A text as it is, and other values as JSON, with the digits that the tool has printed. */
export function toPrinted(value: unknown): string {
  if (typeof value === "string" && !value.startsWith(MARK)) return value;
  const [first = "", ...numbers] = JSON.stringify(value).split(`"${MARK}`);
  return [first, ...numbers.map((rest) => rest.replace('"', ""))].join("");
}
