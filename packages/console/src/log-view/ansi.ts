/** The appearance that escape sequences have set (ECMA-48, "Select Graphic Rendition"). */
export interface Style {
  readonly color?: Color | undefined;
  readonly background?: Color | undefined;
  readonly flags: ReadonlySet<Flag>;
}

export interface Span {
  text: string;
  /** For `class`. */
  classes: string;
}

type Flag = "bold" | "dim" | "italic" | "underline";

export type Color = (typeof COLORS)[number];

const COLORS = [
  "black",
  "red",
  "green",
  "yellow",
  "blue",
  "magenta",
  "cyan",
  "white",
  "bright-black",
  "bright-red",
  "bright-green",
  "bright-yellow",
  "bright-blue",
  "bright-magenta",
  "bright-cyan",
  "bright-white",
] as const;

export const PLAIN: Style = { flags: new Set() };

const FLAGS: Readonly<Record<number, Flag>> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline" };
const CLEARED: Readonly<Record<number, readonly Flag[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
};

/**
 * A graphic sequence with its parameters, or another sequence or control character, or a character
 * that hides or reorders text. Each alternative begins with the character that it is about and ends at
 * the next ESC at the latest, so that a line of any form takes linear time.
 */
const SPECIAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it finds.
  /\x1b\[([\d;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[ -/]*[0-~]?|[\x00-\x08\x0a-\x1f\x7f-\x9f]|([\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff])/g;

/**
 * The spans of one line, and the style that the next line begins with. Sequences other than those of
 * colors are left out. Characters that hide or reorder text are shown as escapes.
 */
export function parseAnsi(line: string, begin: Style = PLAIN): { spans: Span[]; end: Style } {
  const text = withoutOverwritten(line);
  const spans: Span[] = [];
  let style = begin;
  let at = 0;
  const add = (part: string, classes: string) => {
    const last = spans.at(-1);
    if (part === "") return;
    if (last?.classes === classes) last.text += part;
    else spans.push({ text: part, classes });
  };
  for (const match of text.matchAll(SPECIAL)) {
    add(text.slice(at, match.index), classesOf(style));
    at = match.index + match[0].length;
    const [, parameters, hidden] = match;
    if (parameters !== undefined) style = applyParameters(style, parameters);
    if (hidden !== undefined) add(escapeOf(hidden), "ansi-hidden");
  }
  add(text.slice(at), classesOf(style));
  return { spans, end: style };
}

/** What a person reads of a line. */
export function toPlainLine(line: string): string {
  return withoutOverwritten(line).replaceAll(SPECIAL, (_match, _parameters, hidden?: string) =>
    hidden === undefined ? "" : escapeOf(hidden),
  );
}

const LONGEST_SEQUENCE = 64;

/** The beginning of a line, without a part of a sequence at its end. */
export function cutLine(line: string, length: number): string {
  const cut = line.slice(0, length);
  const at = cut.lastIndexOf("\x1b");
  const isPart = at > length - LONGEST_SEQUENCE && !/[a-zA-Z]/.test(cut.slice(at));
  return isPart ? cut.slice(0, at) : cut;
}

/** A progress bar returns to the beginning of its line, and overwrites it. */
function withoutOverwritten(line: string): string {
  const end = line.endsWith("\r") ? line.length - 1 : line.length;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}

function escapeOf(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
}

function classesOf({ color, background, flags }: Style): string {
  const classes = [...flags].map((flag) => `ansi-${flag}`);
  if (color) classes.push(`ansi-${color}`);
  if (background) classes.push(`ansi-on-${background}`);
  return classes.join(" ");
}

function applyParameters(style: Style, parameters: string): Style {
  const fields = parameters.split(";");
  let result = style;
  for (let at = 0; at < fields.length; at += 1) {
    // With colons, one field has all parts of a color.
    const [code = 0, ...parts] = (fields[at] ?? "").split(":").map(Number);
    if (code !== 38 && code !== 48) {
      result = applyCode(result, code);
      continue;
    }
    const hasColons = parts.length > 0;
    const given = hasColons ? parts : fields.slice(at + 1, at + 5).map(Number);
    const { color, length } = readExtendedColor(given);
    result = code === 38 ? { ...result, color } : { ...result, background: color };
    if (!hasColons) at += length;
  }
  return result;
}

function applyCode(style: Style, code: number): Style {
  const flag = FLAGS[code];
  if (code === 0) return PLAIN;
  if (flag) return { ...style, flags: new Set([...style.flags, flag]) };
  const cleared = CLEARED[code];
  if (cleared) {
    return { ...style, flags: new Set([...style.flags].filter((each) => !cleared.includes(each))) };
  }
  if (code === 39) return { ...style, color: undefined };
  if (code === 49) return { ...style, background: undefined };
  if (code >= 30 && code <= 37) return { ...style, color: COLORS[code - 30] };
  if (code >= 40 && code <= 47) return { ...style, background: COLORS[code - 40] };
  if (code >= 90 && code <= 97) return { ...style, color: COLORS[code - 82] };
  if (code >= 100 && code <= 107) return { ...style, background: COLORS[code - 92] };
  return style;
}

/** `5;N` is one of 256 colors; `2;R;G;B`, or `2:SPACE:R:G:B`, is any. `length`: how many codes it has. */
function readExtendedColor([kind, ...values]: readonly number[]): {
  color: Color | undefined;
  length: number;
} {
  if (kind === 5) return { color: colorOfIndex(values[0] ?? 0), length: 2 };
  if (kind !== 2) return { color: undefined, length: 0 };
  const [red = 0, green = 0, blue = 0] = values.slice(-3);
  return { color: nearestColor(red, green, blue), length: 4 };
}

/** xterm's table: 16 colors, a cube of 6 × 6 × 6, and 24 grays. */
function colorOfIndex(index: number): Color | undefined {
  if (index < 16) return COLORS[index];
  if (index >= 232) {
    const gray = 8 + (index - 232) * 10;
    return nearestColor(gray, gray, gray);
  }
  const level = (value: number) => (value % 6) * 51;
  const cube = index - 16;
  return nearestColor(level(Math.floor(cube / 36)), level(Math.floor(cube / 6)), level(cube));
}

const BRIGHT = 170;
const SATURATED = 60;

/** The page has 16 colors, with enough contrast in both schemes. */
function nearestColor(red: number, green: number, blue: number): Color | undefined {
  const highest = Math.max(red, green, blue);
  const lowest = Math.min(red, green, blue);
  if (highest - lowest < SATURATED) {
    if (highest < 64) return "black";
    if (highest < 128) return "bright-black";
    return highest < 224 ? "white" : "bright-white";
  }
  const middle = (highest + lowest) / 2;
  const hue = (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
  return COLORS[hue + (highest > BRIGHT ? 8 : 0)];
}
