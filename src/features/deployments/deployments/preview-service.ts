import { authorize, hasScope, requireScope } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch, type Results } from "../../../db/batch.ts";
import { ApiError, LimitReached, NotFound } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { approverVerifier } from "../../../lib/settings.ts";
import { listStorage, requireStorage } from "../../housekeeping/usage/index.ts";
import { requireAccess } from "../../projects/access/index.ts";
import { type FoundEnvironment, findEnvironment } from "../../projects/environments/index.ts";
import {
  type Condition,
  exceptionsOf,
  type Facts,
  findOpenConditions,
} from "../conditions/index.ts";
import { digestOfExceptions, digestsOf } from "./content.ts";
import {
  type CopyPlan,
  type Promotion,
  planPromotion,
  planRedeployment,
  requireFields,
  selectForPromotion,
  selectForRedeployment,
} from "./copy-service.ts";
import {
  checkStacks,
  type DeploymentFields,
  type DeploymentInput,
  fieldsOf,
  requireDeployable,
  sizeOfDeployment,
} from "./creation-service.ts";
import { compareWith } from "./digest-service.ts";
import { ACTIVE_OF_ENVIRONMENT, NO_STACKS } from "./model.ts";
import type { Document } from "./patch.ts";
import * as pending from "./pending-store.ts";
import type { DeploymentPreview } from "./presenters.ts";
import { previewReferences } from "./reference-preview.ts";
import * as store from "./store.ts";
import type { Waiting } from "./waiting-store.ts";

export async function previewDeployment(
  ctx: ServiceContext,
  environmentId: string,
  input: DeploymentInput,
): Promise<DeploymentPreview> {
  const { db, actor } = ctx;
  requireScope(actor, "environments:read");
  const source = input.source ? JSON.stringify(input.source) : null;
  const stacks = prospectiveStacksOf({ environmentId, stackIds: input.stackIds });
  const place = { environmentId, source, keepsSource: input.source === undefined, stacks };
  const isLast = input.queue === "fifo";
  const loaded = await batch(db, {
    environment: findEnvironment(db, actor, environmentId),
    state: selectState(ctx, { ...place, isLast }),
  });
  const environment = authorize(actor, "environment", loaded.environment[0], "contributor");
  const stackIds = stacksIn(loaded.state.stacks, input.stackIds);
  return previewOf(ctx, planCreation(environment, input), loaded.state, stackIds);
}

export async function previewRedeployment(
  ctx: ServiceContext,
  id: string,
): Promise<DeploymentPreview> {
  requireScope(ctx.actor, "environments:read");
  const statements = selectForRedeployment(ctx, id);
  const stacks = pending.prospectiveStacks.ofDeployment(id);
  const place = { ...copiedFrom(ctx, id), redeployedId: id, stacks };
  const state = selectState(ctx, { ...place, environmentId: store.environmentIdOf(id) });
  const variables = hasScope(ctx.actor, "variables:read")
    ? store.listChangedVariables(ctx.db, ctx.actor.organizationId, id)
    : undefined;
  const loaded = await batch(ctx.db, { ...statements, state, variables });
  const plan = planRedeployment(ctx, loaded, "viewer");
  const stackIds = loaded.stacks.map((stack) => stack.id);
  return {
    ...(await previewOf(ctx, plan, loaded.state, stackIds)),
    changedVariables: loaded.variables,
  };
}

export async function previewPromotion(
  ctx: ServiceContext,
  id: string,
  promotion: Promotion,
): Promise<DeploymentPreview> {
  requireScope(ctx.actor, "environments:read");
  const { environmentId } = promotion;
  const statements = selectForPromotion(ctx, id, environmentId);
  const place = { ...copiedFrom(ctx, id), environmentId, stacks: prospectiveStacksOf(promotion) };
  const loaded = await batch(ctx.db, { ...statements, state: selectState(ctx, place) });
  const plan = planPromotion(ctx, loaded, promotion, "viewer");
  return previewOf(ctx, plan, loaded.state, stacksIn(loaded.state.stacks, promotion.stackIds));
}

function prospectiveStacksOf({ environmentId, stackIds }: Promotion) {
  const { listed, ofEnvironment } = pending.prospectiveStacks;
  return stackIds ? listed(stackIds) : ofEnvironment(environmentId);
}

/** Throws `NotFound` for a stack of another environment. */
function stacksIn(
  stacks: readonly { id: string }[],
  stackIds: readonly string[] = stacks.map(({ id }) => id),
): readonly string[] {
  if (stackIds.every((id) => stacks.some((stack) => stack.id === id))) return stackIds;
  throw new NotFound("stack in the environment");
}

function copiedFrom({ actor }: ServiceContext, id: string) {
  return { source: store.sourceOf(actor.organizationId, id), keepsSource: false };
}

/** What the refusal of a new deployment depends on, what it replaces, and what holds it. */
function selectState(ctx: ServiceContext, prospective: pending.ProspectiveDeployment) {
  const { db, actor } = ctx;
  const { environmentId } = prospective;
  const { organizationId } = actor;
  return {
    project: store.findConnectionState(db, organizationId, environmentId),
    storage: listStorage(db, organizationId),
    active: store.listActive(db, organizationId, environmentId),
    stacks: store.listReferencedStacks(db, organizationId, environmentId),
    variables: hasScope(actor, "variables:read")
      ? store.listVariableNames(db, organizationId, environmentId)
      : undefined,
    prospective: pending.findProspective(ctx, prospective),
  };
}

type State = Results<ReturnType<typeof selectState>>;

function planCreation(environment: FoundEnvironment, input: DeploymentInput): CopyPlan {
  try {
    return { environment, fields: fieldsOf(environment, input) };
  } catch (error) {
    if (error instanceof ApiError) return { environment, fields: undefined, refusal: error };
    throw error;
  }
}

async function previewOf(
  ctx: ServiceContext,
  plan: CopyPlan,
  state: State,
  stackIds: readonly string[],
): Promise<DeploymentPreview> {
  const { environment, fields } = plan;
  const { ids, error } = await decideAll(ctx, plan, state, stackIds);
  const stored = state.prospective[0]?.waitingFor;
  const waiting = stored ? (JSON.parse(stored) as Waiting) : undefined;
  const queued = state.active.filter(({ status }) => status === "queued");
  return {
    environmentId: environment.id,
    fields,
    stackIds: ids,
    references: fields
      ? previewReferences({
          ...{ environment, ids, stacks: state.stacks, variables: state.variables },
          configuration: JSON.parse(fields.configuration) as Document,
          source: fields.source,
        })
      : [],
    supersededIds: fields?.queue === "fifo" ? [] : queued.map(({ id }) => id),
    conditions: await conditionsOf(ctx, waiting?.facts, fields),
    waiting,
    error,
  };
}

/** The stacks in the order of the deployment, and the first error that the request would throw. */
async function decideAll(
  ctx: ServiceContext,
  plan: CopyPlan,
  { project, storage, active, stacks }: State,
  stackIds: readonly string[],
): Promise<{ ids: readonly string[]; error: DeploymentPreview["error"] }> {
  let ids = stackIds;
  try {
    requireScope(ctx.actor, "deployments:write");
    authorize(ctx.actor, "environment", plan.environment, "contributor");
    await requireAccess(ctx, plan.environment, "deploy");
    const fields = requireFields(plan);
    ids = checkStacks(plan.environment, { ...fields, stackIds }, stacks);
    requireStorage(storage, sizeOfDeployment(fields));
    const limit = LIMITS.unfinishedDeployments.value;
    const isFull = fields.queue === "fifo" && active.length >= limit;
    if (isFull) throw new LimitReached(limit, ACTIVE_OF_ENVIRONMENT);
    requireDeployable(project[0]);
    if (stackIds.length === 0) throw NO_STACKS;
    return { ids, error: undefined };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message } = error;
    return { ids, error: { code, message } };
  }
}

const NO_DIGESTS = { digest: null, compared: null };

async function conditionsOf(
  { db, actor, clock, settings }: ServiceContext,
  facts: Facts | null | undefined,
  fields: DeploymentFields | undefined,
): Promise<Condition[]> {
  if (!facts) return [];
  const exceptions = exceptionsOf(facts);
  const digests = fields ? await digestsOf(fields.configuration, exceptions) : NO_DIGESTS;
  const own = { ...digests, exceptions: exceptions ? await digestOfExceptions(exceptions) : null };
  const known = await compareWith(db, actor.organizationId, facts, own);
  return findOpenConditions(known, approverVerifier(settings), clock.now(), actor);
}
