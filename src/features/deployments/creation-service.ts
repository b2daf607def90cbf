import type { ServiceContext } from "../../context.ts";
import { authorize } from "../../context.ts";
import { commit } from "../../db/batch.ts";
import { BadInput, Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { recordChange } from "../changelog/index.ts";
import {
  configurationProblem,
  type EnvironmentRow,
  findEnvironment,
  requireEnvironment,
} from "../environments/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import { writePromotionEvent } from "./announcement-store.ts";
import type { NewDeployment, StackChoice } from "./creation-store.ts";
import * as creation from "./creation-store.ts";
import { finalize } from "./finalize-store.ts";
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
import type { ListedRow } from "./store.ts";
import * as store from "./store.ts";

const DISPLACED =
  `The deployment's configuration is no longer stored: an environment keeps that of its newest ` +
  `${LIMITS.redeployableDeployments.value} deployments.`;
const PATCH_TOO_LARGE =
  `Send a patch of at most ${LIMITS.patchBytes.value} bytes of JSON, together with the values that ` +
  "it replaces.";

export interface DeploymentInput {
  patch: readonly Operation[];
  source: object | undefined;
  stackIds: readonly string[] | undefined;
  queue: Queue;
  reason: string | undefined;
}

/**
 * Queues a deployment of an environment; takes a contributor. Throws `BadInput` for a patch that
 * does not apply, `NotFound` for a stack of another environment, and `Conflict` unless the project
 * is connected.
 */
export async function createDeployment(
  ctx: ServiceContext,
  environmentId: string,
  input: DeploymentInput,
): Promise<ListedRow> {
  const environment = await requireEnvironment(ctx, environmentId, "contributor");
  const { document, patch } = applyInput(environment, input.patch);
  return insert(ctx, environment, input.stackIds, {
    queue: input.queue,
    patch: JSON.stringify(patch),
    configuration: JSON.stringify(document),
    source: input.source ? JSON.stringify(input.source) : null,
    reason: input.reason ?? null,
    isAbsolute: false,
  });
}

/**
 * Queues once more what a deployment was to do: its configuration, its source, and those of its
 * stacks that there still are. That rolls back, too; takes a contributor.
 */
export async function redeploy(ctx: ServiceContext, id: string): Promise<ListedRow> {
  const { db, actor } = ctx;
  const [[found], [origin], [environment], left] = await db.batch([
    store.findDeployment(db, actor, id),
    creation.findOrigin(db, actor.organizationId, id),
    findEnvironment(db, actor, creation.environmentOf(id)),
    creation.listStacksLeft(db, actor.organizationId, id),
  ]);
  authorize(actor, "deployment", found, "contributor");
  if (!origin || !environment) throw new NotFound("deployment");
  const choice = left.map((stack) => stack.id);
  return insertLike(ctx, environment, origin, choice);
}

/**
 * Queues in another environment of the project, over all of its stacks, what a deployment has
 * brought to its own; takes a contributor. Throws `Conflict` for one that has not succeeded.
 */
export async function promote(
  ctx: ServiceContext,
  id: string,
  environmentId: string,
): Promise<ListedRow> {
  const { db, actor } = ctx;
  const [[found], [origin], [target]] = await db.batch([
    store.findDeployment(db, actor, id),
    creation.findOrigin(db, actor.organizationId, id),
    findEnvironment(db, actor, environmentId),
  ]);
  const deployment = authorize(actor, "deployment", found, "contributor");
  if (!origin) throw new NotFound("deployment");
  const environment = authorize(actor, "environment", target, "contributor");
  if (environment.projectId !== deployment.projectId) {
    throw new NotFound("environment in the project");
  }
  if (deployment.status !== "succeeded") {
    throw new Conflict(`Only what has succeeded can be promoted: this is ${deployment.status}.`);
  }
  return insertLike(ctx, environment, origin, undefined, id);
}

async function insertLike(
  ctx: ServiceContext,
  environment: EnvironmentRow,
  { configuration, source }: creation.Origin,
  choice: StackChoice,
  promotedId?: string,
): Promise<ListedRow> {
  if (configuration === "") throw new Conflict(DISPLACED);
  const patch = patchBetween(readDocument(environment.configuration), readDocument(configuration));
  const fields = {
    patch: JSON.stringify(patch),
    configuration,
    source,
    reason: null,
    isAbsolute: true,
  };
  return insert(ctx, environment, choice, { queue: "supersede", ...fields }, promotedId);
}

/** Without a `promotedId`, the deployment promotes no other. */
async function insert(
  ctx: ServiceContext,
  environment: EnvironmentRow,
  choice: StackChoice,
  fields: Pick<NewDeployment, "patch" | "configuration" | "source" | "reason" | "isAbsolute"> & {
    queue: Queue;
  },
  promotedId?: string,
): Promise<ListedRow> {
  const { db, actor, clock } = ctx;
  const { organizationId, projectId, id: environmentId, configurationVersion } = environment;
  const now = clock.now();
  const id = newId(clock);
  const scope = { organizationId, projectId, environmentId, configurationVersion };
  const row = { id, ...scope, ...fields, now };
  const limits = limitGrowth(ctx, {
    organizationId,
    bytes: bytesOf(fields.patch, fields.configuration, fields.source, fields.reason),
    bounds: fields.queue === "fifo" ? [creation.oneMoreUnfinished(environmentId)] : [],
  });
  const batch = commit(ctx, {
    limits: limits.statement,
    circumstances: creation.findCircumstances(db, row, choice),
    deployment: creation.insertDeployment(db, row, choice),
    changelog: recordChange(ctx, {
      projectId,
      action: "created",
      record: { type: "deployment", id },
      after: presentNewDeployment(row, choice),
    }),
    stacks: creation.insertStacks(db, row, choice),
    superseded: creation.supersedeOlder(db, id, environmentId, now),
    configurations: creation.dropOldConfigurations(db, environmentId),
    finalized: finalize(ctx, { environment: environmentId }, now),
    created: store.findDeployment(db, actor, id),
    promotion: promotedId === undefined ? undefined : writePromotionEvent(ctx, id, promotedId),
  });
  const results = await limits.enforce(batch);
  const [created] = results.created;
  const [circumstances] = results.circumstances;
  if (created) return created;
  if (!circumstances) throw new NotFound("environment");
  if (circumstances.connectionStatus !== "connected") {
    throw new Conflict("The project is not connected to a cloud provider. Connect it first.");
  }
  throw new NotFound("stack in the environment");
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
