import type { ServiceContext } from "../../context.ts";
import { authorize } from "../../context.ts";
import { commit } from "../../db/batch.ts";
import { type ApiError, BadInput, Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { recordChange } from "../changelog/index.ts";
import {
  configurationProblem,
  type EnvironmentRow,
  findEnvironment,
  requireEnvironment,
} from "../environments/index.ts";
import { recordRow } from "../idempotency/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import type { Queue } from "./lifecycle.ts";
import {
  type Document,
  type Operation,
  PatchError,
  type PatchedDocument,
  patchBetween,
  patchDocument,
} from "./patch.ts";
import { presentNewDeployment } from "./presenters.ts";
import type { DeploymentContent, DeploymentRow } from "./store.ts";
import * as store from "./store.ts";
import type { NewDeployment } from "./transitions/create.ts";
import * as creation from "./transitions/create.ts";
import { finalize } from "./transitions/finalize.ts";
import { writePromotionEvent } from "./write-events.ts";

const CONFIGURATION_CLEARED =
  `The deployment's configuration is no longer stored: an environment keeps that of its newest ` +
  `${LIMITS.redeployableDeployments.value} deployments.`;
const PATCH_TOO_LARGE =
  `Send a patch of at most ${LIMITS.patchBytes.value} bytes of JSON, together with the values that ` +
  "it replaces.";

export interface DeploymentInput {
  patch: readonly Operation[];
  source: object | undefined;
  /** In this order. Undefined: all stacks of the environment. */
  stackIds: readonly string[] | undefined;
  queue: Queue;
  reason: string | undefined;
}

/**
 * Throws `BadInput` if the patch does not apply, `NotFound` for a stack of another environment, and
 * `Conflict` if the project is not connected.
 */
export async function createDeployment(
  ctx: ServiceContext,
  environmentId: string,
  input: DeploymentInput,
): Promise<DeploymentRow> {
  const environment = await requireEnvironment(ctx, environmentId, "contributor");
  const { document, patch } = applyInput(environment, input.patch);
  return queueDeployment(ctx, environment, {
    queue: input.queue,
    patch: JSON.stringify(patch),
    configuration: JSON.stringify(document),
    source: input.source ? JSON.stringify(input.source) : null,
    stackIds: input.stackIds,
    reason: input.reason ?? null,
    isAbsolute: false,
  });
}

/** With those of its stacks that still exist. Also rolls back. */
export async function redeploy(ctx: ServiceContext, id: string): Promise<DeploymentRow> {
  const { db, actor } = ctx;
  const [[found], [content], [environment], stacks] = await db.batch([
    store.findDeployment(db, actor, id),
    store.findContent(db, actor.organizationId, id),
    findEnvironment(db, actor, store.environmentIdOf(id)),
    store.listExistingStacks(db, actor.organizationId, id),
  ]);
  authorize(actor, "deployment", found, "contributor");
  if (!content || !environment) throw new NotFound("deployment");
  const stackIds = stacks.map((stack) => stack.id);
  return queueDeployment(ctx, environment, copyOf(content, environment, stackIds));
}

/**
 * With all stacks of the other environment. Throws `Conflict` if the deployment has not succeeded.
 */
export async function promote(
  ctx: ServiceContext,
  id: string,
  environmentId: string,
): Promise<DeploymentRow> {
  const { db, actor } = ctx;
  const [[found], [content], [target]] = await db.batch([
    store.findDeployment(db, actor, id),
    store.findContent(db, actor.organizationId, id),
    findEnvironment(db, actor, environmentId),
  ]);
  const deployment = authorize(actor, "deployment", found, "contributor");
  if (!content) throw new NotFound("deployment");
  const environment = authorize(actor, "environment", target, "contributor");
  if (environment.projectId !== deployment.projectId) {
    throw new NotFound("environment in the project");
  }
  if (deployment.status !== "succeeded") {
    throw new Conflict(
      `Only a deployment that has succeeded can be promoted: this one is ${deployment.status}.`,
    );
  }
  return queueDeployment(ctx, environment, copyOf(content, environment, undefined), id);
}

type DeploymentFields = Pick<
  NewDeployment,
  "patch" | "configuration" | "source" | "stackIds" | "reason" | "isAbsolute"
> & { queue: Queue };

function copyOf(
  { configuration, source }: DeploymentContent,
  environment: EnvironmentRow,
  stackIds: readonly string[] | undefined,
): DeploymentFields {
  if (configuration === "") throw new Conflict(CONFIGURATION_CLEARED);
  const patch = patchBetween(readDocument(environment.configuration), readDocument(configuration));
  return {
    queue: "supersede",
    patch: JSON.stringify(patch),
    configuration,
    source,
    stackIds,
    reason: null,
    isAbsolute: true,
  };
}

async function queueDeployment(
  ctx: ServiceContext,
  environment: EnvironmentRow,
  fields: DeploymentFields,
  promotedId?: string,
): Promise<DeploymentRow> {
  const { db, actor, clock } = ctx;
  const { organizationId, projectId, id: environmentId, configurationVersion } = environment;
  const now = clock.now();
  const id = newId(clock);
  const ids = { organizationId, projectId, environmentId, configurationVersion };
  const row = { id, ...ids, ...fields, now };
  const limits = limitGrowth(ctx, {
    organizationId,
    bytes: bytesOf(fields.patch, fields.configuration, fields.source, fields.reason),
    bounds: fields.queue === "fifo" ? [creation.activeDeploymentsBound(environmentId)] : [],
  });
  const batch = commit(ctx, {
    limits: limits.statement,
    project: store.findConnectionStatus(db, organizationId, projectId),
    deployment: creation.insertDeployment(db, row),
    changelog: recordChange(ctx, {
      projectId,
      action: "created",
      record: { type: "deployment", id },
      after: presentNewDeployment(row),
    }),
    stacks: creation.insertStacks(db, row),
    superseded: creation.supersedeOlder(db, id, environmentId, now),
    cleared: creation.clearOldConfigurations(db, environmentId),
    finalized: finalize(ctx, { environment: environmentId }, now),
    recorded: recordRow(ctx, store.selectDeployment(db, organizationId, id), {
      json: store.JSON_TEXTS,
      condition: store.whereDeploymentExists(organizationId, id),
    }),
    created: store.findDeployment(db, actor, id),
    promotion: promotedId === undefined ? undefined : writePromotionEvent(ctx, id, promotedId),
  });
  const results = await limits.enforce(batch);
  const [created] = results.created;
  if (created) return created;
  throw creationError(results.project[0]?.connectionStatus);
}

function creationError(connectionStatus: string | undefined): ApiError {
  if (connectionStatus === undefined) return new NotFound("environment");
  if (connectionStatus === "connected") return new NotFound("stack in the environment");
  return new Conflict("The project is not connected to a cloud provider. Connect it first.");
}

function applyInput(environment: EnvironmentRow, sent: readonly Operation[]): PatchedDocument {
  const patched = applyOrRefuse(environment, sent);
  const message = patched.isTooLarge ? PATCH_TOO_LARGE : configurationProblem(patched.document);
  if (message) throw new BadInput([{ path: "patch", message }]);
  return patched;
}

function applyOrRefuse(environment: EnvironmentRow, sent: readonly Operation[]): PatchedDocument {
  try {
    return patchDocument(readDocument(environment.configuration), sent);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw new BadInput([{ path: `patch.${error.index}`, message: error.message }]);
  }
}

function readDocument(json: string): Document {
  return JSON.parse(json) as Document;
}
