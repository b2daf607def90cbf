import { type Outcome, presentDeployment } from "../deployments/index.ts";
import type { Desire } from "./desire.ts";
import type { DeliveredVariable } from "./report-service.ts";
import { INTERVALS } from "./schemas.ts";
import type { Claim } from "./service.ts";
import type { Started } from "./start-service.ts";
import type { HoldRow } from "./store.ts";

export function presentClaim({ row, leaseToken }: Claim) {
  return {
    attempt_id: row.attemptId,
    epoch: row.epoch,
    lease_token: leaseToken,
    deployment: presentDeployment(row),
    variable_names: JSON.parse(row.variableNames) as string[],
    ...INTERVALS,
  };
}

export function presentStart({ row, desired }: Started) {
  return { ...presentProgress(desired), deployment: presentDeployment(row) };
}

/** An attempt that its runner has completed. */
export function presentCompleted({ deploymentStatus, failureReason }: HoldRow) {
  return {
    ...presentProgress("stop"),
    status: deploymentStatus as Outcome,
    ...(failureReason !== null && { failure_reason: failureReason }),
  };
}

export function presentProgress(desired: Desire) {
  return { desired, ...INTERVALS };
}

export function presentVariable(variable: DeliveredVariable) {
  return {
    name: variable.name,
    storage_method: variable.storageMethod,
    resource_id: variable.resourceId,
    component_id: variable.componentId ?? undefined,
    value: variable.value,
  };
}
