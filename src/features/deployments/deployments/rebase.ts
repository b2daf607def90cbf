import { configurationProblem } from "../../projects/environments/index.ts";
import { DEPLOYMENT_FAILURES } from "./lifecycle.ts";
import { type Document, type Operation, PatchError, patchBetween, patchDocument } from "./patch.ts";

/** What a deployment becomes before it starts. */
export interface Rebase {
  /** JSON. */
  patch: string;
  /** JSON. */
  configuration: string;
  version: number;
}

/** A deployment, and the configuration of its environment that it would start on. */
export interface RebaseInput {
  /** JSON. */
  patch: string;
  isAbsolute: boolean;
  /** JSON. */
  ownConfiguration: string;
  /** JSON. */
  currentConfiguration: string;
  currentVersion: number;
}

/** What the deployment would execute, or why its patch does not apply. */
export type RebaseResult = Rebase | { message: string; version: number };

export function resolveRebase(input: RebaseInput): RebaseResult {
  const version = input.currentVersion;
  const current = JSON.parse(input.currentConfiguration) as Document;
  if (input.isAbsolute) {
    const configuration = input.ownConfiguration;
    const patch = patchBetween(current, JSON.parse(configuration) as Document);
    return { patch: JSON.stringify(patch), configuration, version };
  }
  try {
    const { document, patch } = patchDocument(current, JSON.parse(input.patch) as Operation[]);
    const problem = configurationProblem(document);
    if (problem) return { message: `${DEPLOYMENT_FAILURES.patchConflict}: ${problem}`, version };
    return { patch: JSON.stringify(patch), configuration: JSON.stringify(document), version };
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const message = `${DEPLOYMENT_FAILURES.patchConflict}: operation ${error.index}: ${error.message}`;
    return { message, version };
  }
}
