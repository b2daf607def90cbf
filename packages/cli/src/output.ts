import { styleText } from "node:util";
import { toInertJson, toInertText } from "../../runner/src/inert-text.ts";
import type { CliProcess, OutputStream } from "./cli-process.ts";
import { reasonOf } from "./config-file.ts";
import { ExitCode } from "./errors.ts";
import { toLocalTime } from "./local-time.ts";
import { toPlainJson, toPlainText } from "./plain-text.ts";
import { type Column, renderFields, renderTable } from "./table.ts";

type Style = Parameters<typeof styleText>[0];

/** How a command prints records: a table, or what its options say. */
export interface RecordOptions {
  /** For programs. */
  json?: boolean;
  /** Prints IDs only. */
  quiet?: boolean;
}

const TIME_NAME = /_(at|since|until)$/;

/** A member of an object is a field `object.member`. */
function toFields(name: string, value: unknown): [string, unknown][] {
  if (typeof value === "string" && TIME_NAME.test(name)) return [[name, toLocalTime(value)]];
  if (isScalar(value)) return [[name, value]];
  const isList = Array.isArray(value) && value.every(isScalar);
  const members = isList ? [] : Object.entries(value);
  if (members.length > 0) return members.flatMap(([key, each]) => toFields(`${name}.${key}`, each));
  return [[name, isList ? value.join(", ") : undefined]];
}

function isScalar(value: unknown): value is string | number | boolean | null | undefined {
  return typeof value !== "object" || value === null;
}

type OutputProcess = Pick<CliProcess, "env" | "stdout" | "stderr" | "exit">;

const SLOW_MS = 1_000;
const FRAME_MS = 120;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** Results go to stdout, everything that is for people only to stderr. */
export class Output {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Off while something else draws on the terminal. */
  showsWaits = true;
  /** Off while the command has more to do than to print, such as to wait for an outcome. */
  needsReader = true;
  /** The steps that take time now, the newest last. */
  readonly #waits: string[] = [];
  readonly #process: OutputProcess;
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;
  #isShown = false;

  constructor(process: OutputProcess) {
    const { stdout, stderr } = process;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#process = process;
    stdout.on("error", (error) => this.#endWithout(error));
    // There is no other place to say it.
    stderr.on("error", () => undefined);
  }

  /** Lines for people, which command no CI system. */
  print(text: string): void {
    this.printExactly(`${toInertText(text)}\n`);
  }

  /** Prints a value for programs exactly, without a newline after it. */
  printExactly(text: string): void {
    this.#hideWait();
    this.stdout.write(text);
  }

  /** A remark for people. */
  note(text: string): void {
    this.#hideWait();
    const plain = text.split("\n").map(toPlainText).join("\n");
    this.stderr.write(`${toInertText(plain)}\n`);
  }

  /** Prints a list: a table, JSON, or the IDs. */
  records<Row>(
    rows: readonly Row[],
    columns: readonly Column<Row>[],
    { json, quiet, id }: RecordOptions & { id(row: Row): string },
  ): void {
    if (json) this.json(rows);
    else if (quiet) for (const row of rows) this.print(id(row));
    else if (rows.length > 0) this.print(renderTable(columns, rows));
  }

  /** Prints one record: its fields, JSON, or its ID. */
  record<Row extends object>(
    row: Row,
    { json, quiet, id }: RecordOptions & { id(row: Row): string },
  ): void {
    if (json) this.json(row);
    else if (quiet) this.print(id(row));
    else
      this.print(
        renderFields(Object.entries(row).flatMap(([name, value]) => toFields(name, value))),
      );
  }

  json(value: unknown): void {
    this.#printJson(JSON.stringify(value, null, 2));
  }

  /** JSON in one line. */
  jsonLine(value: unknown): void {
    this.#printJson(JSON.stringify(value));
  }

  /** Colours the text for a terminal; not without one, and not with NO_COLOR. */
  paint(style: Style, text: string, stream: OutputStream = this.stdout): string {
    // Node 20.12 does not look at the stream.
    const hasColors = stream.isTTY && !this.#process.env["NO_COLOR"];
    return hasColors ? styleText(style, text, { validateStream: false }) : text;
  }

  /** Shows on a terminal what is waited for, if it takes more than a second. */
  async wait<T>(what: string, work: Promise<T>): Promise<T> {
    if (!this.stderr.isTTY) return work;
    this.#waits.push(what);
    const slow = setTimeout(() => this.#animate(), SLOW_MS);
    try {
      return await work;
    } finally {
      clearTimeout(slow);
      this.#waits.splice(this.#waits.lastIndexOf(what), 1);
      if (this.#waits.length === 0) this.#stop();
    }
  }

  #printJson(json: string): void {
    this.printExactly(`${toInertJson(toPlainJson(json))}\n`);
  }

  /** A reader such as head may end before the output does. */
  #endWithout(error: NodeJS.ErrnoException): void {
    if (error.code === "EPIPE") {
      if (this.needsReader) this.#process.exit();
      return;
    }
    this.note(`Cannot print the result: ${reasonOf(error)}.`);
    this.#process.exit(ExitCode.error);
  }

  #animate(): void {
    this.#timer ??= setInterval(() => {
      if (!this.showsWaits) return;
      this.#frame = (this.#frame + 1) % FRAMES.length;
      this.stderr.write(`\r\x1b[2K${FRAMES[this.#frame]} ${this.#waits.at(-1) ?? ""}`);
      this.#isShown = true;
    }, FRAME_MS);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#hideWait();
  }

  #hideWait(): void {
    if (this.#isShown) this.stderr.write("\r\x1b[2K");
    this.#isShown = false;
  }
}
