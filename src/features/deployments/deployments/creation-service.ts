import { namesWithExecutor } from "../../../../packages/runner/src/executors/settings-list.ts";
import type { ServiceContext } from "../../../context.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { BadInput, NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { requireAccess } from "../../projects/access/index.ts";
import {
  configurationProblem,
  type EnvironmentRow,
  findSettingsProblems,
  mayHaveNeeds,
  requireEnvironment,
} from "../../projects/environments/index.ts";
import { digestOfText } from "./content.ts";
import { evaluateQueued } from "./evaluation-service.ts";
import type { Queue } from "./lifecycle.ts";
import { NO_STACKS, needsCommit, ProjectDisconnected, STACKS_CHANGED } from "./model.ts";
import {
  type Document,
  type Operation,
  PatchError,
  type PatchedDocument,
  patchDocument,
} from "./patch.ts";
import { factsOf, presentNewDeployment } from "./presenters.ts";
import { orderStacks, type StackOfEnvironment } from "./stack-order.ts";
import type { DeploymentRow } from "./store.ts";
import * as store from "./store.ts";
import type { NewDeployment } from "./transitions/create.ts";
import * as creation from "./transitions/create.ts";
import { finalize } from "./transitions/finalize.ts";
import { writePromotionEvent } from "./write-events.ts";

const PATCH_TOO_LARGE =
  `Send a patch of at most ${LIMITS.patchBytes.value} bytes of JSON, together with the values that ` +
  "it replaces.";

export interface DeploymentInput {
  patch: readonly Operation[];
  /** Undefined: that of the environment. Null: none. */
  source: object | null | undefined;
  /** In this order. Undefined: all stacks of the environment. */
  stackIds: readonly string[] | undefined;
  queue: Queue;
  reason: string | undefined;
  continueOnFailure: boolean;
}

/**
 * Throws `BadInput` if the patch does not apply, or as `orderStacks`, `NotFound` for a stack of another environment, and
 * `Conflict` if somebody has disconnected the project.
 */
export async function createDeployment(
  ctx: ServiceContext,
  environmentId: string,
  input: DeploymentInput,
): Promise<DeploymentRow> {
  const environment = await requireEnvironment(ctx, environmentId, "contributor");
  await requireAccess(ctx, environment, "deploy");
  return queueDeployment(ctx, environment, fieldsOf(environment, input));
}

/** Throws `BadInput` if the patch does not apply. */
export function fieldsOf(environment: EnvironmentRow, input: DeploymentInput): DeploymentFields {
  const { document, patch } = applyInput(environment, input.patch);
  return {
    queue: input.queue,
    patch: JSON.stringify(patch),
    configuration: JSON.stringify(document),
    ...sourceOf(environment, input),
    trigger: "api",
    stackIds: input.stackIds,
    reason: input.reason ?? null,
    continueOnFailure: input.continueOnFailure,
    isAbsolute: false,
  };
}

export type DeploymentFields = Pick<
  NewDeployment,
  | "patch"
  | "configuration"
  | "source"
  | "keepsSource"
  | "trigger"
  | "stackIds"
  | "reason"
  | "isAbsolute"
  | "continueOnFailure"
> & { queue: Queue; copiedId?: string };

/** Throws as `checkStacks`, `LimitReached` for the stored bytes, as `requireDeployable`, then `Conflict` without stacks. */
export async function queueDeployment(
  ctx: ServiceContext,
  environment: EnvironmentRow,
  fields: DeploymentFields,
): Promise<DeploymentRow> {
  const stackIds = await planStacks(ctx, environment, fields);
  const { db, clock } = ctx;
  const { organizationId, projectId, id: environmentId, configurationVersion } = environment;
  const now = clock.now();
  const id = newId(clock);
  const ids = { organizationId, projectId, environmentId, configurationVersion };
  const { keyId, membershipId } = ctx.actor;
  const promotedId = fields.trigger === "promotion" ? fields.copiedId : undefined;
  const configurationDigest = await digestOfText(fields.configuration);
  const creator = { keyId, membershipId };
  const row = { id, ...ids, ...fields, stackIds, configurationDigest, creator, now };
  const { first, reads } = await writeBatch(ctx, {
    growth: {
      organizationId,
      bytes: sizeOfDeployment(fields),
      bounds: fields.queue === "fifo" ? [creation.activeDeploymentsBound(environmentId)] : [],
    },
    first: { project: store.findConnectionState(db, organizationId, environmentId) },
    guarded: creation.insertDeployment(db, row),
    changes: [
      {
        projectId,
        action: "created",
        record: { type: "deployment", id },
        after: presentNewDeployment(row),
      },
    ],
    effects: {
      stacks: creation.insertStacks(db, row),
      superseded: creation.supersedeOlder(db, id, environmentId, now),
      cleared: creation.clearOldConfigurations(db, environmentId),
      finalized: finalize(ctx, { environment: environmentId }, now),
      promotion: promotedId ? writePromotionEvent(ctx, id, promotedId) : undefined,
    },
    entry: {
      row: store.selectDeployment(db, organizationId, id, now),
      json: store.JSON_TEXTS,
      condition: store.whereDeploymentExists(organizationId, id),
    },
    reads: { created: store.findDeployment(ctx, id) },
  });
  const [created] = reads.created;
  if (created) {
    if (factsOf(created)) await evaluateQueued(ctx, { deployment: id });
    return created;
  }
  requireDeployable(first.project[0]);
  if (!stackIds || stackIds.length === 0) throw NO_STACKS;
  throw fields.stackIds ? new NotFound("stack in the environment") : STACKS_CHANGED;
}

/**
 * The stacks in the order to deploy them. Undefined: all of the environment, in its own order. The stacks are read only
 * if something depends on their names.
 */
async function planStacks(
  { db }: ServiceContext,
  environment: EnvironmentRow,
  fields: DeploymentFields,
): Promise<readonly string[] | undefined> {
  const mayLackCommit = lacksCommit(fields) && fields.configuration.includes('"executor"');
  if (!mayLackCommit && !mayHaveNeeds(fields.configuration)) return fields.stackIds;
  const { organizationId, id } = environment;
  const stacks = await store.listStacksOfEnvironment(db, organizationId, id);
  return checkStacks(environment, fields, stacks);
}

/** What `planStacks` gives, with the stacks of the environment. Throws as `orderStacks`, and for a missing commit. */
export function checkStacks(
  environment: EnvironmentRow,
  fields: DeploymentFields,
  stacks: readonly StackOfEnvironment[],
): readonly string[] {
  const configuration = JSON.parse(fields.configuration) as Document;
  const ids = fields.stackIds ?? stacks.map((stack) => stack.id);
  if (!ids.every((id) => stacks.some((stack) => stack.id === id))) return ids;
  if (lacksCommit(fields)) {
    const names = namesWithExecutor(configuration);
    const stack = stacks.find((each) => ids.includes(each.id) && names.has(each.name));
    if (stack) throw needsCommit(stack.name);
  }
  const before = JSON.parse(environment.configuration) as Document;
  return orderStacks({ configuration, before, stacks, ids });
}

/** Whether no commit can be checked out. A redeployment may run again without one. */
function lacksCommit({ trigger, source }: DeploymentFields): boolean {
  return trigger !== "redeployment" && !(source && "git" in JSON.parse(source));
}

export function sizeOfDeployment(fields: DeploymentFields): number {
  return bytesOf(fields.patch, fields.configuration, fields.source, fields.reason);
}

/** A project that was never connected may deploy. */
export function requireDeployable(project: store.ConnectionState | undefined): void {
  if (!project) throw new NotFound("environment");
  const { disconnectedAt, disconnectedBy } = project;
  if (disconnectedAt !== null) throw new ProjectDisconnected(disconnectedAt, disconnectedBy);
}

function sourceOf({ source: current }: EnvironmentRow, { source }: DeploymentInput) {
  if (source === undefined) return { source: current, keepsSource: true };
  return { source: source && JSON.stringify(source), keepsSource: false };
}

function applyInput(
  { configuration }: EnvironmentRow,
  sent: readonly Operation[],
): PatchedDocument {
  const before = JSON.parse(configuration) as Document;
  const patched = applyOrRefuse(before, sent);
  const message = patched.isTooLarge ? PATCH_TOO_LARGE : configurationProblem(patched.document);
  const problems = message ? [message] : findSettingsProblems(patched.document, before);
  if (problems.length === 0) return patched;
  throw new BadInput(problems.map((problem) => ({ path: "patch", message: problem })));
}

function applyOrRefuse(before: Document, sent: readonly Operation[]): PatchedDocument {
  try {
    return patchDocument(before, sent);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw new BadInput([{ path: `patch.${error.index}`, message: error.message }]);
  }
}
