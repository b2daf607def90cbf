import { ApiError } from "../../lib/errors.ts";
import { FAILURES } from "../deployments/index.ts";
import type { Directive } from "./directive.ts";

/** The header of every answer of the runner plane. */
export const DIRECTIVE_HEADER = "deployment-desired";

/** What an attempt's state does not allow; and what its runner is to do now. */
export class AttemptConflict extends ApiError {
  constructor(message: string, desired: Directive, cause?: object) {
    super("conflict", message, {
      headers: { [DIRECTIVE_HEADER]: desired },
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

/** Whatever the runner believes, the attempt is not its own any more, or never was. */
export class LeaseLost extends AttemptConflict {
  constructor() {
    super("The attempt is over, or the lease token is not its own. Stop.", "stop");
  }
}

/** What a failed call tells the runner to do: without a credential or an attempt, to stop. */
export function directiveAfter(error: unknown): string {
  if (!(error instanceof ApiError)) return "continue";
  const gone = error.code === "unauthenticated" || error.code === "not_found";
  return error.headers[DIRECTIVE_HEADER] ?? (gone ? "stop" : "continue");
}
