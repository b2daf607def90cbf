import { appendFileSync } from "node:fs";
import { toPlainText } from "../../cli/src/plain-text.ts";
import { toInertText } from "../../runner/src/inert-text.ts";

/** The job of GitHub that runs this step: its log, its annotations, its outputs and its summary. */
export class Job {
  readonly environment: NodeJS.Dict<string>;
  readonly #write: (line: string) => void;

  constructor(environment: NodeJS.Dict<string>, write: (line: string) => void) {
    this.environment = environment;
    this.#write = write;
  }

  /** A line of the log, which is never a command for GitHub, whatever its text. */
  print(text: string): void {
    this.#write(toInertText(toPlainText(text)));
  }

  /** Hides the text in all that the job prints from now on. */
  mask(secret: string): void {
    this.#write(`::add-mask::${escapeData(secret)}`);
  }

  annotate(level: "error" | "warning" | "notice", message: string): void {
    this.#write(`::${level} title=Longshore::${escapeData(message)}`);
  }

  setOutput(name: string, value: string): void {
    this.#append("GITHUB_OUTPUT", `${name}=${toPlainText(value)}\n`);
  }

  /** Markdown, on the page of the run. */
  addSummary(markdown: string): void {
    this.#append("GITHUB_STEP_SUMMARY", `${markdown}\n`);
  }

  #append(variable: string, text: string): void {
    const path = this.environment[variable];
    if (path) appendFileSync(path, text);
  }
}

/** Source: actions/toolkit, packages/core/src/command.ts. */
function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
