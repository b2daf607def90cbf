import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ReportFile } from "./report-file.ts";
import type { StackInput } from "./stack-input.ts";
import { TemporaryFolder } from "./temporary-folder.ts";

/** The files with which the command of one stack gets what to deploy, and reports what it has deployed. */
export class StackFolder {
  readonly #folder = new TemporaryFolder("longshore-stack-");
  readonly inputPath: string;
  readonly configurationPath: string;
  readonly reportPath: string;
  readonly report: ReportFile;

  constructor(input: StackInput) {
    try {
      this.inputPath = this.#write("input.json", input);
      this.configurationPath = this.#write("configuration.json", input.configuration);
      this.reportPath = join(this.#folder.path, "report.jsonl");
      this.report = new ReportFile(this.reportPath);
    } catch (error) {
      this.#folder.removeNow();
      throw error;
    }
  }

  /** Returns the path of the file. */
  writeSettings(values: object): string {
    return this.#write("settings.json", values);
  }

  async remove(): Promise<void> {
    this.report.close();
    await this.#folder.remove();
  }

  #write(name: string, content: unknown): string {
    const path = join(this.#folder.path, name);
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
    return path;
  }
}
