import { CliError } from "../errors.ts";

/**
 * The assignments that dotenv finds in a text. Source: `parse` of dotenv 18, which has ten times as much code for what is
 * not used here; a test compares.
 */
const ASSIGNMENTS =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm;
/** The name, and the first character of the value if it is a quote. As dotenv reads a line. */
const ASSIGNMENT = /^\s*(?:export\s+)?([\w.-]+)(?:\s*=|:[^\S\n])[^\S\n]*(['"`]?)/;
const IGNORED = /^\s*(?:#.*)?$/;
/** dotenv takes `#` for a comment also within a word, other programs do not. */
const GLUED_COMMENT = /^[^#]*\S#/;

interface Statement {
  name: string;
  /** The number of its first line. */
  line: number;
  value: string;
}

/**
 * The variables of a `.env` file, in its order, as dotenv reads them. dotenv skips lines that it does
 * not understand, and takes the last of several values: those are errors here.
 */
export function parseDotenv(source: string, path: string): Map<string, string> {
  const text = source.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
  const byName = new Map<string, Statement>();
  for (const statement of readStatements(text, path)) {
    const earlier = byName.get(statement.name);
    if (earlier) {
      throw new CliError(
        `${path} has ${statement.name} twice, in the lines ${earlier.line} and ${statement.line}. Remove one.`,
      );
    }
    byName.set(statement.name, statement);
  }
  requireSameAsDotenv(parse(text), [...byName.values()], path);
  return new Map([...byName.values()].map(({ name, value }) => [name, value]));
}

function readStatements(text: string, path: string): Statement[] {
  const lines = text.split("\n");
  const statements: Statement[] = [];
  for (let at = 0; at < lines.length; ) {
    if (IGNORED.test(lines[at] ?? "")) {
      at += 1;
      continue;
    }
    const { lineCount, ...statement } = readStatement(lines.slice(at), at + 1, path);
    statements.push(statement);
    at += lineCount;
  }
  return statements;
}

function readStatement(
  lines: readonly string[],
  line: number,
  path: string,
): Statement & { lineCount: number } {
  const [, name, quote] = ASSIGNMENT.exec(lines[0] ?? "") ?? [];
  if (name === undefined) {
    throw new CliError(
      `${path}, line ${line}: this is not NAME=value. Correct it, or begin it with #.`,
    );
  }
  const lineCount = quote ? countQuotedLines(lines, quote) : 1;
  const chunk = lines.slice(0, lineCount).join("\n");
  const isGlued = !quote && GLUED_COMMENT.test(chunk);
  if (lineCount === 0 || isGlued) {
    const advice = isGlued
      ? "Quote the value, or put a space before the comment."
      : "Close the quote, and write nothing but a comment after it.";
    throw new CliError(`${path}, line ${line}: the end of ${name} is not clear. ${advice}`);
  }
  const values = parse(chunk);
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) {
    throw new CliError(`${path}, line ${line}: a variable cannot have the name ${name}.`);
  }
  return { name, line, value, lineCount };
}

function parse(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [, name = "", written = ""] of text.matchAll(ASSIGNMENTS)) {
    const value = written.trim();
    const unquoted = value.replaceAll(/^(['"`])([\s\S]*)\1$/gm, "$2");
    values[name] = value.startsWith('"')
      ? unquoted.replaceAll("\\n", "\n").replaceAll("\\r", "\r")
      : unquoted;
  }
  return values;
}

/** The lines up to the closing quote. 0 if there is none, or if it is not the end of its line. */
function countQuotedLines(lines: readonly string[], quote: string): number {
  const closed = new RegExp(
    `^[^${quote}]*${quote}(?:\\\\${quote}|[^${quote}])*${quote}\\s*(?:#.*)?$`,
  );
  for (let count = 1; count <= lines.length; count += 1) {
    if (lines[count - 1]?.includes(quote) && closed.test(lines.slice(0, count).join("\n")))
      return count;
  }
  return 0;
}

/** dotenv may take a quote that follows a backslash for a part of the value. */
function requireSameAsDotenv(
  expected: Record<string, string>,
  statements: readonly Statement[],
  path: string,
): void {
  const other = statements.find(({ name, value }) => expected[name] !== value);
  if (!other) return;
  throw new CliError(
    `${path}, line ${other.line}: the end of ${other.name} is not clear. Use another kind of quotes.`,
  );
}
