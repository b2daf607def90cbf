/** What moves the cursor within a line or erases in it, and the styles of what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it finds.
const CONTROL = /\r|\x08|\x1b\[(\d{0,3})([CDGK])|\x1b\[([0-9;:]{0,64})m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it finds.
const MOVES = /\r|\x08|\x1b\[\d{0,3}[CDGK]/;
/** Two columns wide. */
const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;
const RESET = "\x1b[0m";
/** Enough for a colour, a background and weights. */
const LONGEST_STYLE = 256;

/** As wide as terminals are. */
const RIGHTMOST = 999;

interface Cell {
  /** Empty: the second half of a wide character. */
  text: string;
  /** The sequences that make its style. */
  style: string;
}

/** Each has its own: a mark that follows is added to it. */
const space = (): Cell => ({ text: " ", style: "" });

/** What a terminal shows of a line that returns to its beginning, such as a progress bar. */
export function toShownLine(text: string): string {
  return MOVES.test(text) ? render(new Line(text).cells) : text;
}

/** A shorter text after which a terminal is in the same state: what follows it may overwrite the line. */
export function shorten(text: string): string {
  if (!MOVES.test(text)) return text;
  const { cells, cursor, style } = new Line(text);
  const gap = cursor - cells.length;
  const moved = gap > 0 ? `\x1b[${gap}C` : "";
  const again = gap < 0 ? `\r${render(cells.slice(0, cursor))}` : moved;
  return `${render(cells)}${again}${style}`;
}

class Line {
  readonly cells: Cell[] = [];
  cursor = 0;
  style = "";

  constructor(text: string) {
    let at = 0;
    for (const match of text.matchAll(CONTROL)) {
      this.#write(text.slice(at, match.index));
      at = match.index + match[0].length;
      this.#apply(match);
    }
    this.#write(text.slice(at));
  }

  #write(text: string): void {
    for (const character of text) {
      const before = this.cells[this.cursor - 1];
      if (before && WITHOUT_WIDTH.test(character)) before.text += character;
      else this.#put(character);
    }
  }

  #put(text: string): void {
    const { cells, style } = this;
    while (cells.length < this.cursor) cells.push(space());
    // Half of a wide character is a space.
    const isHalf = cells[this.cursor]?.text === "";
    if (isHalf) cells[this.cursor - 1] = space();
    cells[this.cursor] = { text, style };
    this.cursor += 1;
    if (WIDE.test(text)) {
      cells[this.cursor] = { text: "", style };
      this.cursor += 1;
    }
    if (cells[this.cursor]?.text === "") cells[this.cursor] = space();
  }

  #apply([sequence, count = "", motion, style]: RegExpMatchArray): void {
    if (sequence === "\r") this.cursor = 0;
    else if (sequence === "\b") this.#moveTo(this.cursor - 1);
    else if (style !== undefined) this.#setStyle(sequence, style);
    else if (motion === "G") this.#moveTo(Number(count || 1) - 1);
    else if (motion === "C") this.#moveTo(this.cursor + Number(count || 1));
    else if (motion === "D") this.#moveTo(this.cursor - Number(count || 1));
    else this.#erase(count);
  }

  #moveTo(column: number): void {
    const rightmost = Math.max(this.cells.length, RIGHTMOST);
    this.cursor = Math.min(Math.max(0, column), rightmost);
  }

  #setStyle(sequence: string, parameters: string): void {
    const isReset = /^0*$/.test(parameters);
    const isNew = isReset || /^0+[;:]/.test(parameters);
    this.style = isReset ? "" : `${isNew ? "" : this.style}${sequence}`;
    if (this.style.length > LONGEST_STYLE) this.style = sequence;
  }

  /** To the end of the line, to the cursor, or all. Half of a wide character is a space. */
  #erase(what: string): void {
    const { cells, cursor } = this;
    if (what === "" || what === "0") {
      if (cells[cursor]?.text === "") cells[cursor - 1] = space();
      cells.length = Math.min(cells.length, cursor);
    } else if (what === "1") {
      if (cells[cursor + 1]?.text === "") cells[cursor + 1] = space();
      for (let at = 0; at <= Math.min(cursor, cells.length - 1); at++) cells[at] = space();
    } else if (what === "2") cells.length = 0;
  }
}

function render(cells: readonly Cell[]): string {
  let text = "";
  let style = "";
  for (const cell of cells) {
    if (cell.style !== style) text += `${style === "" ? "" : RESET}${cell.style}`;
    style = cell.style;
    text += cell.text;
  }
  return style === "" ? text : text + RESET;
}
