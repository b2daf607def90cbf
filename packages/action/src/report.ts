import { stripVTControlCharacters } from "node:util";
import type { DeploymentProgress } from "../../cli/src/deployments/follow.ts";
import { toPlainText } from "../../cli/src/plain-text.ts";
import type { Schemas } from "../../client/src/index.ts";
import type { Job } from "./job.ts";

type Deployment = Schemas["Deployment"];

interface StackRow {
  name: string;
  status: string;
  reason?: string | undefined;
}

/** Prints what happens to a deployment, and knows its last status. */
export class DeploymentReport {
  readonly id: string;
  /** Where people open what was deployed. */
  url: string | undefined;
  readonly #job: Job;
  readonly #environment: string;
  readonly #names: ReadonlyMap<string, string>;
  #waitingFor: readonly string[] = [];
  #status: string;
  #stacks = new Map<string, StackRow>();

  constructor(
    job: Job,
    deployment: Deployment,
    environment: string,
    names: ReadonlyMap<string, string>,
  ) {
    this.id = deployment.id;
    this.#job = job;
    this.#environment = environment;
    this.#names = names;
    this.#status = deployment.status;
    this.#keepStacks(deployment);
  }

  get status(): string {
    return this.#status;
  }

  showProgress({ status, stacks, waitingFor }: DeploymentProgress): void {
    if (status !== this.#status) this.#job.print(`The deployment is ${status}.`);
    this.#status = status;
    for (const reason of waitingFor)
      if (!this.#waitingFor.includes(reason)) this.#job.print(`Waiting: ${reason}`);
    this.#waitingFor = waitingFor;
    for (const stack of stacks) {
      const row = this.#stacks.get(stack.id) ?? { name: this.#nameOf(stack.id), status: "" };
      if (row.status !== stack.status) this.#job.print(`[${row.name}] is ${stack.status}`);
      this.#stacks.set(stack.id, { ...row, status: stack.status });
    }
  }

  showLine({ stack_id, text }: Schemas["LogLine"]): void {
    // A line with progress has carriage returns, at which GitHub begins another line.
    const lines = stripVTControlCharacters(text).split(/[\r\n]+/);
    const printed = lines.length > 1 ? lines.filter((line) => line !== "") : lines;
    for (const line of printed) this.#job.print(`[${this.#nameOf(stack_id)}] ${line}`);
  }

  end(deployment: Deployment): void {
    this.#status = deployment.status;
    this.#keepStacks(deployment);
  }

  /** What has gone wrong, for an annotation. */
  describe(): string {
    const failed = [...this.#stacks.values()].filter(({ status }) => status === "failed");
    const lines = failed.map(({ name, reason }) => {
      return toPlainText(reason === undefined ? name : `${name}: ${reason}`);
    });
    const subject = `The deployment ${this.id} of ${toPlainText(this.#environment)}`;
    return [`${subject} ${OUTCOMES[this.#status] ?? `is ${this.#status}`}.`, ...lines].join("\n");
  }

  /** A table in HTML, in which GitHub reads no Markdown: it has no empty line. */
  renderSummary(): string {
    const rows = [...this.#stacks.values()].map(({ name, status, reason = "" }) => {
      return `<tr><td>${code(name)}</td><td>${code(status)}</td><td>${code(reason)}</td></tr>`;
    });
    const head = "<tr><th>Stack</th><th>Status</th><th>Reason</th></tr>";
    return [
      `<h3>Deployment of ${code(this.#environment)}: ${code(this.#status)}</h3>`,
      `<p>ID: ${code(this.id)}</p>`,
      ...(this.url === undefined
        ? []
        : [`<p><a href="${escapeHtml(this.url)}">${code(this.url)}</a></p>`]),
      ...(rows.length > 0 ? [`<table>${head}`, ...rows, "</table>"] : []),
      "",
    ].join("\n");
  }

  #keepStacks({ data }: Deployment): void {
    for (const { id, status, status_reason: reason } of data.stacks ?? []) {
      this.#stacks.set(id, { name: this.#nameOf(id), status, reason });
    }
  }

  #nameOf(stackId: string): string {
    return this.#names.get(stackId) ?? stackId;
  }
}

const OUTCOMES: Record<string, string> = {
  failed: "has failed",
  canceled: "was canceled",
  superseded: "was superseded by a newer one before it started",
};

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** As code, GitHub makes no link of it and mentions nobody. */
function code(text: string): string {
  if (text === "") return "";
  return `<code>${escapeHtml(text)}</code>`;
}

function escapeHtml(text: string): string {
  return toPlainText(text).replace(/[&<>"]/g, (character) => ENTITIES[character] ?? "");
}
