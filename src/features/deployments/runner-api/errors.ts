import { ApiError } from "../../../lib/errors.ts";
import { DEPLOYMENT_FAILURES, type DeploymentStatus } from "../deployments/index.ts";
import { DIRECTIVE_HEADER, type Directive } from "./directive.ts";

export class AttemptConflict extends ApiError {
  constructor(message: string, directive: Directive, cause?: object) {
    super("conflict", message, {
      headers: { [DIRECTIVE_HEADER]: directive },
      ...(cause && { cause }),
    });
  }
}

export class PatchConflict extends AttemptConflict {
  constructor(message: string) {
    super(`The deployment has failed. ${message}`, "stop", {
      reason: DEPLOYMENT_FAILURES.patchConflict,
    });
  }
}

/** The deployment stays queued, and the offer has not lapsed. */
export class StartRefused extends AttemptConflict {
  constructor(reasons: string) {
    super(`A rule of the environment is not met. ${reasons} The deployment waits: stop.`, "stop");
  }
}

/** For a claim of one deployment. */
export class DeploymentEnded extends AttemptConflict {
  constructor(status: DeploymentStatus) {
    super(`The deployment has ended: it is ${status}.`, "stop", { status });
  }
}

export class LeaseLost extends AttemptConflict {
  constructor() {
    super("The attempt has ended, or the lease token is of another attempt. Stop.", "stop");
  }
}

export const NOT_STARTED = "Start the attempt first.";
export const CONFIGURATION_CHANGING = "The configuration keeps changing. Start the attempt again.";
export const LEASE_STALE = "The lease is stale. Send a heartbeat first.";
export const STACK_ENDED = "The stack has ended. Its status is final.";
export const OTHER_OUTCOME = "The attempt was completed with another outcome.";

export function mustComplete(state: string): string {
  return `The attempt is ${state}: complete it.`;
}
