import { InvalidArgumentError } from "commander";

/** The value of an option that is a whole number. */
export function parseWholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}
