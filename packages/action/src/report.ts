import { stripVTControlCharacters } from "node:util";
import {
  describeCreator,
  describeReason,
  describeSeconds,
  explainOutcome,
  explainStacks,
} from "../../cli/src/deployments/describe.ts";
import type { DeploymentProgress } from "../../cli/src/deployments/follow.ts";
import { LineJoiner, type StackLine } from "../../cli/src/deployments/log-text.ts";
import { toPlainText } from "../../cli/src/plain-text.ts";
import type { Schemas } from "../../client/src/index.ts";
import type { Job } from "./job.ts";

type Deployment = Schemas["Deployment"];

interface StackRow {
  name: string;
  status: string;
  reason?: string | undefined;
}

interface Described {
  /** The name of the environment. */
  environment: string;
  /** Of its stacks, by their IDs. */
  names: ReadonlyMap<string, string>;
  link: string;
}

/** Prints what happens to a deployment, and knows its last status. */
export class DeploymentReport {
  readonly id: string;
  /** Where people open what was deployed. */
  url: string | undefined;
  readonly #job: Job;
  readonly #environment: string;
  readonly #names: ReadonlyMap<string, string>;
  /** The page of the console. */
  readonly #link: string;
  #deployment: Deployment;
  readonly #joiner = new LineJoiner();
  #waitingFor: readonly string[] = [];
  #status: string;
  #stacks = new Map<string, StackRow>();

  constructor(job: Job, deployment: Deployment, { environment, names, link }: Described) {
    this.id = deployment.id;
    this.#job = job;
    this.#environment = environment;
    this.#names = names;
    this.#link = link;
    this.#deployment = deployment;
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

  showLine(line: Schemas["LogLine"]): void {
    this.#print(this.#joiner.push(line));
  }

  end(deployment: Deployment): void {
    this.flushLog();
    this.#status = deployment.status;
    this.#deployment = deployment;
    this.#keepStacks(deployment);
  }

  /** What has gone wrong, for an annotation. */
  describe(): string {
    const failed = [...this.#stacks.values()].filter(({ status }) => status === "failed");
    const lines = failed.map(({ name, reason }) => {
      return toPlainText(reason === undefined ? name : `${name}: ${reason}`);
    });
    const subject = `The deployment ${this.id} of ${toPlainText(this.#environment)}`;
    const outcome = explainOutcome(this.#deployment);
    return [
      `${subject} ${OUTCOMES[this.#status] ?? `is ${this.#status}`}.`,
      ...lines,
      outcome === undefined ? [] : toPlainText(outcome),
    ]
      .flat()
      .join("\n");
  }

  /** A table in HTML, in which GitHub reads no Markdown: it has no empty line. */
  renderSummary(): string {
    const rows = [...this.#stacks.values()].map(({ name, status, reason = "" }) => {
      return `<tr><td>${code(name)}</td><td>${code(status)}</td><td>${code(reason)}</td></tr>`;
    });
    const head = "<tr><th>Stack</th><th>Status</th><th>Reason</th></tr>";
    return [
      `<h3>Deployment of ${code(this.#environment)}: ${code(this.#status)}</h3>`,
      `<p>${this.#describeDetails().join("<br>")}</p>`,
      ...(this.url === undefined ? [] : [`<p>${linkTo(this.url, this.url)}</p>`]),
      ...(rows.length > 0 ? [`<table>${head}`, ...rows, "</table>"] : []),
      "",
    ].join("\n");
  }

  #describeDetails(): string[] {
    const { queued_seconds, run_seconds, created_by } = this.#deployment;
    const details = [
      ["By", describeCreator(created_by)],
      ["Reason", describeReason(this.#deployment)],
      ["Waited", describeSeconds(queued_seconds)],
      ["Took", describeSeconds(run_seconds)],
      ["Ended with", explainOutcome(this.#deployment)],
    ] as const;
    return [
      `Deployment: ${linkTo(this.#link, this.id)}`,
      ...details.flatMap(([name, value]) => (value ? `${name}: ${code(value)}` : [])),
    ];
  }

  /** Prints the lines of the log that have no end. */
  flushLog(): void {
    this.#print(this.#joiner.flush());
  }

  #print(lines: readonly StackLine[]): void {
    for (const { stackId, text } of lines) {
      this.#job.print(`[${this.#nameOf(stackId)}] ${stripVTControlCharacters(text)}`);
    }
  }

  #keepStacks(deployment: Deployment): void {
    const reasons = explainStacks(deployment);
    for (const { id, status } of deployment.data.stacks ?? []) {
      this.#stacks.set(id, { name: this.#nameOf(id), status, reason: reasons.get(id) });
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

function linkTo(url: string, text: string): string {
  return `<a href="${escapeHtml(url)}">${code(text)}</a>`;
}

function escapeHtml(text: string): string {
  return toPlainText(text).replace(/[&<>"]/g, (character) => ENTITIES[character] ?? "");
}
