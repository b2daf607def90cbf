/** Matches each pattern on standard input with repeats of its characters, alone and before another character. */
import { readFileSync, writeSync } from "node:fs";

const STANDARD_OUTPUT = 1;
const ENDS = ["", "\u0001", "\n"];

const { patterns, lengths } = JSON.parse(readFileSync(0, "utf8"));
for (const { source, flags, characters } of patterns) {
  // The last line names the pattern that is not finished when the process is ended.
  writeSync(STANDARD_OUTPUT, `${source}\n`);
  const pattern = new RegExp(source, flags);
  for (const length of lengths) {
    for (const character of characters) {
      for (const end of ENDS) (character.repeat(length) + end).search(pattern);
    }
  }
}
