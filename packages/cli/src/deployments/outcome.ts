import type { Schemas } from "../../../client/src/index.ts";
import { ExitCode } from "../errors.ts";

export type DeploymentStatus = Schemas["DeploymentStatus"];
export type FinalStatus = keyof typeof EXIT_CODES;

const EXIT_CODES = {
  succeeded: ExitCode.succeeded,
  failed: ExitCode.failed,
  canceled: ExitCode.canceled,
  superseded: ExitCode.superseded,
} as const satisfies Partial<Record<DeploymentStatus, ExitCode>>;

export function hasEnded(status: DeploymentStatus): status is FinalStatus {
  return Object.hasOwn(EXIT_CODES, status);
}

/** @throws TypeError for a deployment that has not ended. */
export function exitCodeOf(status: DeploymentStatus): ExitCode {
  if (hasEnded(status)) return EXIT_CODES[status];
  throw new TypeError(`${status} is not the outcome of a deployment.`);
}
