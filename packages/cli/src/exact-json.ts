import { findInexactNumber } from "../../../src/lib/exact-number.ts";
import { CliError } from "./errors.ts";

const LONGEST_SHOWN = 60;

/**
 * @param owner Whose JSON it is, at the beginning of a message.
 * @throws CliError for a number that would be another one when it is stored.
 */
export function requireExactNumbers(json: string, owner: string): void {
  const number = findInexactNumber(json);
  if (number === undefined) return;
  const shown = number.length > LONGEST_SHOWN ? `${number.slice(0, LONGEST_SHOWN)}…` : number;
  throw new CliError(
    `${owner} has the number ${shown}, which would change when it is stored. Write it as a string: "${shown}".`,
  );
}
