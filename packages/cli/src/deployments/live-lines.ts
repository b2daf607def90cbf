import stringWidth from "string-width";
import type { OutputStream } from "../cli-process.ts";

/** Terminals that know it show what is between both at once. */
const SYNCHRONIZED = ["\x1b[?2026h", "\x1b[?2026l"] as const;

/**
 * The last lines of a terminal, which each drawing replaces. They must be fewer than the terminal has. The cursor is
 * below them and stays visible, so that no signal leaves a terminal without one.
 */
export class LiveLines {
  readonly #stream: OutputStream;
  #lines: readonly string[] = [];

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  /** Replaces the lines, after those of `before`, which stay. */
  draw(lines: readonly string[], before: readonly string[] = []): void {
    const isSame = lines.join("\n") === this.#lines.join("\n");
    if (isSame && before.length === 0) return;
    const text = [...before, ...lines].map((line) => `${line}\n`).join("");
    this.#stream.write(SYNCHRONIZED.join(this.#erasure() + text));
    this.#lines = lines;
  }

  erase(): void {
    this.draw([]);
  }

  /** The lines stay, and the next drawing is below them. */
  keep(): void {
    this.#lines = [];
  }

  /** A terminal that has become narrower has broken the lines. */
  #erasure(): string {
    const columns = this.#stream.columns || Infinity;
    const rows = this.#lines.map((line) => Math.max(1, Math.ceil(stringWidth(line) / columns)));
    const count = rows.reduce((sum, each) => sum + each, 0);
    return count > 0 ? `\r\x1b[${count}A\x1b[J` : "";
  }
}
