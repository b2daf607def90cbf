import { ApiError } from "../../lib/errors.ts";
import { FAILURES } from "../deployments/index.ts";
import type { Directive } from "./directive.ts";
import { DIRECTIVE_HEADER } from "./directive-header.ts";

/** The state of the attempt does not allow the call. The header has the runner's directive. */
export class AttemptConflict extends ApiError {
  constructor(message: string, directive: Directive, cause?: object) {
    super("conflict", message, {
      headers: { [DIRECTIVE_HEADER]: directive },
      ...(cause && { cause }),
    });
  }
}

/** The deployment has failed, because its patch does not apply to the current configuration. */
export class PatchConflict extends AttemptConflict {
  constructor(message: string) {
    super(`The deployment has failed. ${message}`, "stop", { reason: FAILURES.patchConflict });
  }
}

/** The runner has lost the lease of the attempt, or never had it. */
export class LeaseLost extends AttemptConflict {
  constructor() {
    super("The attempt has ended, or the lease token is of another attempt. Stop.", "stop");
  }
}
