import { toTimestamp } from "../../../lib/clock.ts";
import { BadInput, Conflict } from "../../../lib/errors.ts";
import type { Outcome } from "./lifecycle.ts";

export class ProjectDisconnected extends Conflict {
  constructor(disconnectedAt: number, name: string | null) {
    const who = name ?? "Somebody";
    const time = toTimestamp(disconnectedAt);
    super(`${who} has disconnected the project at ${time}. Connect it first.`);
  }
}

export const NO_STACKS = new Conflict(
  "The deployment would deploy nothing, because it has no stacks. Create a stack in the environment first.",
);

export const STACKS_CHANGED = new Conflict(
  "The environment's stacks have just changed. Send the request again.",
);

/** @param stack Its name. */
export function needsCommit(stack: string): BadInput {
  const message =
    `The stack ${stack} needs a commit to check out. Send git with the commit and its ref, ` +
    "or run longshore deploy in a clone of the repository.";
  return new BadInput([{ path: "source", message }]);
}

/** What the limit `unfinishedDeployments` counts. */
export const ACTIVE_OF_ENVIRONMENT = "unfinished deployments of an environment";

/** The whole log of an attempt. */
export interface LogDeclaration {
  /** In bytes. */
  size: number;
  /** In hexadecimal, in lower case. */
  sha256: string;
}

export interface Completion {
  outcome: Outcome;
  failureReason: string | null;
  message: string | null;
  /** Null: the runner has declared none. */
  log: LogDeclaration | null;
}

/** The same completion gives the same text. */
export function toCompletionText({ outcome, failureReason, message, log }: Completion): string {
  return JSON.stringify([outcome, failureReason, message, ...(log ? [log.size, log.sha256] : [])]);
}

/** @param completion As `toCompletionText` gives it. */
export function declaredLogOf(completion: string): LogDeclaration | null {
  const [, , , size, sha256] = JSON.parse(completion) as unknown[];
  return typeof size === "number" && typeof sha256 === "string" ? { size, sha256 } : null;
}
