import { ApiError } from "../../lib/errors.ts";
import { FAILURES } from "../deployments/index.ts";
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
    super(`The deployment has failed. ${message}`, "stop", { reason: FAILURES.patchConflict });
  }
}

export class LeaseLost extends AttemptConflict {
  constructor() {
    super("The attempt has ended, or the lease token is of another attempt. Stop.", "stop");
  }
}
