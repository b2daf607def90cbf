/** `##[…]`, `##vso[…]` and `##teamcity[…]`, which count anywhere in a line. .NET finds them among invisible characters, too. */
const COMMAND =
  /(#[\p{Default_Ignorable_Code_Point}\p{Cf}]*#[\p{Default_Ignorable_Code_Point}\p{Cf}\w]*)\[/gu;
/** `::command::` and the headings of groups, which count at the beginning of a line. */
const LINE_COMMAND =
  /^[\s\p{Default_Ignorable_Code_Point}\p{Cf}]*(?=:[\p{Default_Ignorable_Code_Point}\p{Cf}]*:|---|\+\+\+|~~~|\^\^\^)/u;

/**
 * Lines that no CI system obeys, whatever somebody else has written into them. The commands of GitLab and Travis need
 * control characters, which the command line and the action show instead. test/programs/support/ci-commands.ts lists all,
 * with their sources.
 */
export function toInertText(text: string): string {
  return text.replaceAll(/[^\r\n]+/g, toInertLine);
}

/** The same bytes, unless they have a command. */
export function toInertBytes(bytes: Buffer): Buffer {
  const text = bytes.toString();
  const inert = toInertText(text);
  return inert === text ? bytes : Buffer.from(inert);
}

function toInertLine(line: string): string {
  return line.replaceAll(COMMAND, "$1 [").replace(LINE_COMMAND, "$&\\");
}

/** The same value for a reader of JSON. No line of JSON begins with a command. */
export function toInertJson(json: string): string {
  return json.replaceAll(COMMAND, (command) => `\\u0023${command.slice(1)}`);
}
