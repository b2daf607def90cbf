import type { z } from "@hono/zod-openapi";
import { readNeeds } from "../../../../packages/runner/src/executors/needs.ts";
import type { IdentitySettings } from "../../../lib/settings.ts";
import { presentWithExternalId } from "../connections/index.ts";
import {
  type Checked,
  type Completion,
  type Document,
  type Operation,
  type Outcome,
  presentDeployment,
} from "../deployments/index.ts";
import type { Directive } from "./directive.ts";
import type { InputRow, OtherStack, OutputsOfStacks } from "./input-store.ts";
import type { CompletionInput, StackReport } from "./report-schemas.ts";
import type { ClaimInput, LeaseHeaders } from "./schemas.ts";
import { INTERVALS } from "./schemas.ts";
import type {
  AttemptRow,
  ClaimRow,
  DeliveredVariable,
  Delivery,
  ReportedProgress,
  StartedDeployment,
} from "./store.ts";

export function toClaimRequest(input: z.output<typeof ClaimInput>) {
  const { request_id: requestId, deployment_id: deploymentId, runner } = input;
  return {
    requestId,
    deploymentId,
    runnerName: runner?.name ?? "",
    runnerVersion: runner?.version,
  };
}

type Context = { settings: IdentitySettings };

export function presentClaim(
  { row, leaseToken }: { row: ClaimRow; leaseToken: string },
  ctx: Context,
) {
  return {
    attempt_id: row.attemptId,
    epoch: row.epoch,
    lease_token: leaseToken,
    deployment: presentDeployment(row, ctx),
    variable_names: JSON.parse(row.variableNames) as string[],
    ...INTERVALS,
  };
}

export function presentStart({ row, input, directive }: StartedDeployment, ctx: Context) {
  const deployment = presentDeployment(row, ctx);
  return { ...presentProgress(directive), deployment, input: presentInput(row, input) };
}

function presentInput(deployment: StartedDeployment["row"], row: InputRow) {
  const { id, patch, source, trigger, continueOnFailure } = deployment;
  const checked = JSON.parse(row.checked) as Checked;
  const outputs = JSON.parse(row.outputs) as OutputsOfStacks;
  const configuration = JSON.parse(row.configuration) as Document;
  const needed = neededStacks(configuration, checked.stacks, JSON.parse(row.others));
  const connection = checked.connection as Parameters<typeof presentWithExternalId>[0] | null;
  return {
    deployment: {
      id,
      patch: JSON.parse(patch) as Operation[],
      ...(source !== null && { source: JSON.parse(source) as object }),
      trigger: trigger === "rollback" ? "redeployment" : trigger,
      continue_on_failure: continueOnFailure,
    },
    project: { id: row.projectId, name: checked.projectName },
    environment: { id: deployment.environmentId, name: checked.environmentName },
    stacks: checked.stacks.map((stack) => presentStack(stack, outputs)),
    ...(needed.length > 0 && { needed_stacks: needed }),
    configuration,
    ...(connection && { connection: presentWithExternalId(connection) }),
  };
}

/** The stacks that are not deployed, but that a deployed stack needs. */
function neededStacks(
  configuration: Document,
  deployed: Checked["stacks"],
  others: readonly OtherStack[],
) {
  const own = deployed.map(([, name]) => name);
  const needs = readNeeds(configuration, new Set([...own, ...others.map(([, name]) => name)]));
  return others
    .filter(([, name]) => own.some((each) => needs.get(each)?.names.has(name)))
    .map(([id, name, outputs]) => ({ id, name, outputs }));
}

function presentStack(stack: Checked["stacks"][number], outputs: OutputsOfStacks) {
  const [id, name, componentId, component] = stack;
  return {
    id,
    name,
    ...(componentId !== null && { component: { id: componentId, name: component ?? "" } }),
    outputs: outputs[id] ?? {},
  };
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

export function presentReported({ directive, warnings }: ReportedProgress) {
  return { ...presentProgress(directive), ...(warnings.length > 0 && { warnings }) };
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
  headers: z.output<typeof LeaseHeaders>,
) {
  return { attemptId: attempt_id, leaseToken: headers["lease-token"] };
}

export function toReport({
  seq,
  status,
  status_reason,
  resources,
  changed_resources,
  outputs = [],
}: z.output<typeof StackReport>) {
  return {
    seq,
    status,
    statusReason: status_reason ?? null,
    outputs,
    isComplete: resources !== undefined,
    resources: (resources ?? changed_resources)?.map((each) => ({
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
}: z.output<typeof CompletionInput>): Completion {
  return {
    outcome,
    failureReason: failure_reason ?? null,
    message: message ?? null,
    log: log ?? null,
  };
}
