import type { Schemas } from "../../../client/src/index.ts";
import { toInertText } from "../../../runner/src/inert-text.ts";
import type { OutputStream } from "../cli-process.ts";
import type { Output } from "../output.ts";
import type { DeploymentProgress } from "./follow.ts";
import { LineJoiner, type StackLine, toSafeLine } from "./log-text.ts";
import { hasEnded } from "./outcome.ts";
import type { StackNames } from "./stack-names.ts";

/** Shows a deployment while it runs. */
export interface DeploymentDisplay {
  onLine(line: Schemas["LogLine"]): void;
  onStatus(progress: DeploymentProgress): void;
  /** Leaves the terminal to a question. */
  pause(): void;
  resume(): void;
  /** Shows what is left, and ends. */
  close(): void;
}

/** For `--quiet`. */
export const NO_DISPLAY: DeploymentDisplay = {
  onLine: () => undefined,
  onStatus: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
  close: () => undefined,
};

/** Lines of a log, each after the name of its stack. */
export class LogPrinter {
  readonly #names: StackNames;
  readonly #hasColors: boolean;
  readonly #joiner = new LineJoiner();
  readonly #print: (line: string) => void;

  constructor(names: StackNames, hasColors: boolean, print: (line: string) => void) {
    this.#names = names;
    this.#hasColors = hasColors;
    this.#print = print;
  }

  push(line: Schemas["LogLine"]): void {
    this.#printAll(this.#joiner.push(line));
  }

  flush(): void {
    this.#printAll(this.#joiner.flush());
  }

  /** The lines that have no end yet, without colours: they are cut to the width of the terminal. */
  get begun(): string[] {
    return this.#joiner.begun.map((line) => this.#render(line, false));
  }

  #printAll(lines: readonly StackLine[]): void {
    for (const line of lines) this.#print(this.#render(line, this.#hasColors));
  }

  #render({ stackId, text }: StackLine, hasColors: boolean): string {
    return toInertText(`${this.#names.of(stackId)} | ${toSafeLine(text, { hasColors })}`);
  }
}

/** Whether a stream shows colours: a terminal without NO_COLOR. */
export function hasColors(output: Output, stream: OutputStream): boolean {
  return Boolean(stream.isTTY) && output.paint("bold", "x", stream) !== "x";
}

/** For files, pipes and CI: the log as it arrives, and changes of states on stderr. */
export class PlainDisplay implements DeploymentDisplay {
  readonly #output: Output;
  readonly #names: StackNames;
  readonly #log: LogPrinter;
  readonly #shown = new Map<string, string>();
  #waitingFor: readonly string[] = [];
  /** What waits for the end of a question. */
  #held: (() => void)[] | undefined;

  /** With `isLogOnStderr`, stdout is for the result. */
  constructor(output: Output, names: StackNames, { isLogOnStderr = false } = {}) {
    this.#output = output;
    this.#names = names;
    const stream = isLogOnStderr ? output.stderr : output.stdout;
    const print = (line: string) => (isLogOnStderr ? output.note(line) : output.print(line));
    this.#log = new LogPrinter(names, hasColors(output, stream), (line) =>
      this.#hold(() => print(line)),
    );
  }

  onLine(line: Schemas["LogLine"]): void {
    this.#log.push(line);
  }

  onStatus({ status, stacks, waitingFor }: DeploymentProgress): void {
    for (const { id, status } of stacks) this.#note(`The stack ${this.#names.of(id)}`, status);
    // The end is the last line, after the reasons.
    if (!hasEnded(status)) this.#note("The deployment", status);
    for (const reason of waitingFor.filter((each) => !this.#waitingFor.includes(each))) {
      this.#hold(() => this.#output.note(`Waiting: ${reason}`));
    }
    this.#waitingFor = waitingFor;
  }

  pause(): void {
    this.#held ??= [];
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const print of held) print();
  }

  close(): void {
    this.resume();
    this.#log.flush();
  }

  #hold(print: () => void): void {
    if (this.#held) this.#held.push(print);
    else print();
  }

  #note(what: string, status: string): void {
    if (this.#shown.get(what) === status) return;
    this.#shown.set(what, status);
    this.#hold(() => this.#output.note(`${what} is ${status}.`));
  }
}
