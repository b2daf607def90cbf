import type { Output } from "../../../lib/schemas.ts";
import { type Completion, type Outcome, presentDeployment } from "../deployments/index.ts";
import type { Directive } from "./directive.ts";
import type { CompletionInput, LeaseHeaders, StackReport } from "./schemas.ts";
import { INTERVALS } from "./schemas.ts";
import type {
  AttemptRow,
  ClaimRow,
  DeliveredVariable,
  Delivery,
  StartedDeployment,
} from "./store.ts";

export function presentClaim({ row, leaseToken }: { row: ClaimRow; leaseToken: string }) {
  return {
    attempt_id: row.attemptId,
    epoch: row.epoch,
    lease_token: leaseToken,
    deployment: presentDeployment(row),
    variable_names: JSON.parse(row.variableNames) as string[],
    ...INTERVALS,
  };
}

export function presentStart({ row, directive }: StartedDeployment) {
  return { ...presentProgress(directive), deployment: presentDeployment(row) };
}

export function presentCompleted({ deploymentStatus, failureReason }: AttemptRow) {
  return {
    ...presentProgress("stop"),
    status: deploymentStatus as Outcome,
    ...(failureReason !== null && { failure_reason: failureReason }),
  };
}

export function presentProgress(directive: Directive) {
  return { desired: directive, ...INTERVALS };
}

export function presentDelivery({ variables, stacks }: Delivery) {
  return {
    variables: variables.map(presentVariable),
    stacks: stacks.map(({ stackId, componentId }) => ({
      stack_id: stackId,
      component_id: componentId ?? undefined,
    })),
  };
}

function presentVariable(variable: DeliveredVariable) {
  return {
    name: variable.name,
    storage_method: variable.storageMethod,
    resource_id: variable.resourceId,
    environment_id: variable.environmentId,
    component_id: variable.componentId ?? undefined,
    value: variable.value,
  };
}

export function toLeaseCredentials(
  { attempt_id }: { attempt_id: string },
  headers: Output<typeof LeaseHeaders>,
) {
  return { attemptId: attempt_id, leaseToken: headers["lease-token"] };
}

export function toReport({ seq, status, status_reason, resources }: Output<typeof StackReport>) {
  return {
    seq,
    status,
    statusReason: status_reason ?? null,
    resources: resources?.map((each) => ({
      templateId: each.template_id,
      physicalId: each.physical_id,
      resourceType: each.resource_type,
      status: each.status,
      statusReason: each.status_reason ?? null,
      timestamp: each.timestamp === undefined ? undefined : Date.parse(each.timestamp),
    })),
  };
}

export function toCompletion({
  outcome,
  failure_reason,
  message,
  log,
}: Output<typeof CompletionInput>): Completion {
  return {
    outcome,
    failureReason: failure_reason ?? null,
    message: message ?? null,
    log: log ?? null,
  };
}
