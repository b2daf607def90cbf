import type { Schemas } from "../../../client/src/index.ts";
import type { Output } from "../output.ts";
import { type DeploymentDisplay, hasColors, LogPrinter } from "./display.ts";
import type { DeploymentProgress, StackStatus } from "./follow.ts";
import { type FrameRow, fit, renderFrame } from "./live-frame.ts";
import { LiveLines } from "./live-lines.ts";
import type { DeploymentStatus } from "./outcome.ts";
import type { StackNames } from "./stack-names.ts";

const FRAME_MS = 100;

const STYLES = {
  succeeded: "green",
  failed: "red",
  canceled: "yellow",
  canceling: "yellow",
  superseded: "yellow",
  in_progress: "cyan",
  queued: "dim",
  pending: "dim",
  skipped: "dim",
} as const satisfies Record<DeploymentStatus | StackStatus, string>;

/** When something began and ended to be in progress, by this machine's clock. */
interface Period {
  from: number;
  to?: number;
}

/** What is drawn on. */
export function sizeOf({ stdout: { columns, rows } }: Output): { columns: number; rows: number } {
  return { columns: columns || 80, rows: rows || 24 };
}

/** For terminals: the states below the log. The frames take the lines that have arrived between them. */
export class LiveDisplay implements DeploymentDisplay {
  readonly #output: Output;
  readonly #names: StackNames;
  readonly #title: string;
  readonly #log: LogPrinter;
  readonly #live: LiveLines;
  readonly #periods = new Map<string, Period>();
  #lines: string[] = [];
  #progress: DeploymentProgress | undefined;
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;

  constructor(output: Output, names: StackNames, deploymentId: string) {
    this.#output = output;
    this.#names = names;
    this.#title = `Deployment ${deploymentId}`;
    const print = (line: string) => void this.#lines.push(line);
    this.#log = new LogPrinter(names, hasColors(output, output.stdout), print);
    this.#live = new LiveLines(output.stdout);
    this.resume();
  }

  onLine(line: Schemas["LogLine"]): void {
    this.#log.push(line);
  }

  onStatus(progress: DeploymentProgress): void {
    this.#progress = progress;
    this.#note(this.#title, progress.status);
    for (const { id, status } of progress.stacks) this.#note(id, status);
  }

  pause(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#output.stdout.off("resize", this.#draw);
    this.#live.erase();
    this.#output.showsWaits = true;
  }

  resume(): void {
    this.#output.showsWaits = false;
    this.#output.stdout.on("resize", this.#draw);
    this.#timer ??= setInterval(this.#draw, FRAME_MS);
  }

  /** The last frame stays. */
  close(): void {
    const isPaused = this.#timer === undefined;
    if (isPaused) this.resume();
    this.#log.flush();
    this.#draw();
    clearInterval(this.#timer);
    this.#output.stdout.off("resize", this.#draw);
    this.#live.keep();
    this.#output.showsWaits = true;
  }

  readonly #draw = (): void => {
    this.#tick += 1;
    this.#live.draw(this.#render(), this.#lines);
    this.#lines = [];
  };

  /** The lines of the log that have no end, such as progress bars, and the states below them. */
  #render(): string[] {
    const { columns, rows } = sizeOf(this.#output);
    const begun = this.#log.begun
      .slice(-Math.max(1, Math.floor(rows / 3)))
      .map((line) => fit(line, columns - 1));
    return [...begun, ...this.#renderStates(columns, rows - begun.length)];
  }

  #renderStates(columns: number, rows: number): string[] {
    if (!this.#progress) return [];
    const { status, stacks, waitingFor: notes } = this.#progress;
    const size = { columns, rows, tick: this.#tick, notes };
    const title = this.#row(this.#title, this.#title, status);
    const rowsOfStacks = stacks.map(({ id, status }) => this.#row(id, this.#names.of(id), status));
    const lines = renderFrame(title, rowsOfStacks, size);
    return lines.map((line) => this.#output.paint(STYLES[line.status], line.text));
  }

  #row(key: string, name: string, status: FrameRow["status"]): FrameRow {
    const period = this.#periods.get(key);
    const elapsedMs = period && (period.to ?? performance.now()) - period.from;
    return { name, status, elapsedMs };
  }

  #note(key: string, status: FrameRow["status"]): void {
    const period = this.#periods.get(key);
    const isActive = status === "in_progress" || status === "canceling";
    if (isActive && !period) this.#periods.set(key, { from: performance.now() });
    else if (!isActive && period) period.to ??= performance.now();
  }
}
