import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReportFile } from "./report-file.ts";
import type { StackInput } from "./stack-input.ts";

/** Another process of the command may still write to it. */
const REMOVAL = { recursive: true, force: true, maxRetries: 3 } as const;

/** The files with which the command of one stack gets what to deploy, and reports what it has deployed. */
export class StackFolder {
  readonly #folder: string;
  readonly inputPath: string;
  /** Undefined: the server does not say what the configuration is. */
  readonly configurationPath: string | undefined;
  readonly reportPath: string;
  readonly report: ReportFile;

  constructor(input: StackInput) {
    // mkdtemp creates the folder with mode 0700.
    this.#folder = mkdtempSync(join(tmpdir(), "longshore-stack-"));
    // A third signal exits without the `finally` block of the caller.
    process.once("exit", this.#removeNow);
    try {
      this.inputPath = this.#write("input.json", input);
      const { configuration } = input;
      if (configuration !== undefined) {
        this.configurationPath = this.#write("configuration.json", configuration);
      }
      this.reportPath = join(this.#folder, "report.jsonl");
      this.report = new ReportFile(this.reportPath);
    } catch (error) {
      process.off("exit", this.#removeNow);
      this.#removeNow();
      throw error;
    }
  }

  async remove(): Promise<void> {
    this.report.close();
    try {
      await rm(this.#folder, REMOVAL);
    } catch (error) {
      const { code = "an unknown error" } = error as NodeJS.ErrnoException;
      console.error(`The folder ${this.#folder} cannot be removed: ${code}.`);
    }
    process.off("exit", this.#removeNow);
  }

  #write(name: string, content: unknown): string {
    const path = join(this.#folder, name);
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
    return path;
  }

  readonly #removeNow = (): void => {
    try {
      rmSync(this.#folder, REMOVAL);
    } catch {
      // The process is exiting, or the caller has the reason already.
    }
  };
}
