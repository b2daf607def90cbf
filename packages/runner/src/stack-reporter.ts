import { delay } from "./api.ts";
import type { Outputs, StackReport } from "./api-types.ts";
import type { AttemptLog } from "./attempt-log.ts";
import { ApiError, NoResponseError, RunnerError } from "./errors.ts";
import type { Lease } from "./lease.ts";
import type { ReportFile, ReportFileLine } from "./report-file.ts";
import { LineError, parseReportLine } from "./report-lines.ts";
import { ReportedState } from "./reported-state.ts";

export const REPORT_EVERY_MS = 1_000;
/** After so many lines that are ignored, a report is no longer read. */
export const MAXIMUM_IGNORED_LINES = 100;
const BAD_INPUT = 400;

interface ReporterOptions {
  stackId: string;
  file: ReportFile;
  log: AttemptLog;
}

/** How the command of a stack ended. */
export type StackEnd = Pick<StackReport, "status" | "status_reason">;

/** Sends what the command of one stack reports, while it runs and at its end. */
export class StackReporter {
  readonly #lease: Lease;
  readonly #options: ReporterOptions;
  readonly #state: ReportedState;
  #seq = 0;
  #hasNews = false;
  #ignoredLines = 0;

  constructor(lease: Lease, options: ReporterOptions) {
    this.#lease = lease;
    this.#options = options;
    this.#state = new ReportedState((text) => options.log.maskText(text));
  }

  get statusReason(): string | undefined {
    return this.#state.statusReason;
  }

  async begin(): Promise<void> {
    await this.#send({ status: "in_progress" });
  }

  /** Never rejects, so that it can run beside the command. */
  async sendUntil(over: AbortSignal): Promise<void> {
    while (true) {
      await delay(REPORT_EVERY_MS, over);
      if (over.aborted || this.#lease.haltReason === "lost") return;
      await this.#read(this.#options.file.lines());
      if (this.#hasNews && !over.aborted) await this.#sendProgress(over);
    }
  }

  /** After the end of the command. */
  async readRest(): Promise<void> {
    await this.#read(this.#options.file.rest());
  }

  /** Returns the outputs that the server has. If it refuses what the command reports, sends only the end. */
  async finish(end: StackEnd): Promise<Outputs> {
    try {
      while (this.#state.exceedsReport) {
        await this.#send({ status: "in_progress", ...this.#state.toReport() });
      }
      await this.#send({ ...end, ...this.#state.toReport() });
      return this.#state.outputs;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#noteRefusal(error);
      await this.#send(end);
      return {};
    }
  }

  async #sendProgress(over: AbortSignal): Promise<void> {
    const { statusReason } = this.#state;
    const reason = statusReason === undefined ? {} : { status_reason: statusReason };
    this.#hasNews = this.#state.exceedsReport;
    try {
      await this.#send({ status: "in_progress", ...reason, ...this.#state.toReport() }, over);
    } catch (error) {
      if (!(error instanceof RunnerError)) throw error;
      if (isRefusal(error)) this.#noteRefusal(error);
      // What got no response is in the next report; a lost attempt has none.
      this.#hasNews = error instanceof NoResponseError;
    }
  }

  async #send(report: Omit<StackReport, "seq">, signal?: AbortSignal): Promise<void> {
    this.#seq += 1;
    const sent = { seq: this.#seq, ...report };
    const warnings = await this.#lease.report(this.#options.stackId, sent, signal);
    this.#state.setSent(sent);
    for (const warning of warnings) this.#note(warning);
  }

  async #read(lines: AsyncIterable<ReportFileLine>): Promise<void> {
    if (this.#ignoredLines >= MAXIMUM_IGNORED_LINES) return;
    try {
      for await (const line of lines) {
        this.#apply(line);
        if (this.#ignoredLines < MAXIMUM_IGNORED_LINES) continue;
        this.#note(`Report: ${MAXIMUM_IGNORED_LINES} lines are ignored. The rest is not read.`);
        return;
      }
    } catch (error) {
      const { code = "an unknown error" } = error as NodeJS.ErrnoException;
      this.#ignoredLines = MAXIMUM_IGNORED_LINES;
      this.#note(`Report: it cannot be read: ${code}.`);
    }
  }

  #apply(line: ReportFileLine): void {
    try {
      if ("problem" in line) throw new LineError(line.problem);
      const parsed = parseReportLine(line.bytes);
      if (!parsed) return;
      this.#state.apply(parsed);
      this.#hasNews = true;
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      this.#ignore(line.number, error.message);
    }
  }

  #ignore(number: number | undefined, reason: string): void {
    this.#ignoredLines += 1;
    this.#note(number === undefined ? `Report: ${reason}` : `Report, line ${number}: ${reason}`);
  }

  #noteRefusal({ serverMessage }: ApiError): void {
    this.#note(`Report: the server does not accept it: ${serverMessage}`);
  }

  #note(text: string): void {
    this.#options.log.note(this.#options.stackId, text);
  }
}

function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === BAD_INPUT;
}
