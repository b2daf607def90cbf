import { authorize, hasScope, requireScope } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch, type Results } from "../../../db/batch.ts";
import { ApiError, Conflict, NotFound } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import { listStorage, requireStorage } from "../../housekeeping/usage/index.ts";
import { requireAccess } from "../../projects/access/index.ts";
import { type FoundEnvironment, findEnvironment } from "../../projects/environments/index.ts";
import {
  type DeploymentFields,
  queueDeployment,
  requireDeployable,
  sizeOfDeployment,
} from "./creation-service.ts";
import type { DeploymentTrigger } from "./lifecycle.ts";
import { NO_STACKS } from "./model.ts";
import { type Document, patchBetween } from "./patch.ts";
import type { DeploymentPreview } from "./presenters.ts";
import type { DeploymentContent, DeploymentRow } from "./store.ts";
import * as store from "./store.ts";

export const CONFIGURATION_CLEARED =
  `The deployment's configuration is no longer stored: an environment keeps that of its newest ` +
  `${LIMITS.redeployableDeployments.value} deployments.`;

/** What redeploy or promote creates. */
interface CopyPlan {
  environment: FoundEnvironment;
  /** Undefined: the configuration to deploy is no longer stored. */
  fields: DeploymentFields | undefined;
  /** Why the deployment is not promoted. */
  refusal?: ApiError | undefined;
}

/** With those of its stacks that still exist. Also rolls back. */
export async function redeploy(ctx: ServiceContext, id: string): Promise<DeploymentRow> {
  const loaded = await batch(ctx.db, selectForRedeployment(ctx, id));
  const plan = planRedeployment(ctx, loaded, "contributor");
  await requireAccess(ctx, plan.environment, "deploy");
  return queueDeployment(ctx, plan.environment, { ...requireFields(plan), copiedId: id });
}

/**
 * With all stacks of the other environment. Throws `Conflict` if the deployment has not succeeded.
 */
export async function promote(
  ctx: ServiceContext,
  id: string,
  environmentId: string,
): Promise<DeploymentRow> {
  const loaded = await batch(ctx.db, selectForPromotion(ctx, id, environmentId));
  const plan = planPromotion(ctx, loaded, "contributor");
  await requireAccess(ctx, plan.environment, "deploy");
  return queueDeployment(ctx, plan.environment, { ...requireFields(plan), copiedId: id });
}

export async function previewRedeployment(
  ctx: ServiceContext,
  id: string,
): Promise<DeploymentPreview> {
  requireScope(ctx.actor, "environments:read");
  const statements = selectForRedeployment(ctx, id);
  const state = selectState(ctx, store.environmentIdOf(id));
  const variables = hasScope(ctx.actor, "variables:read")
    ? store.listChangedVariables(ctx.db, ctx.actor.organizationId, id)
    : undefined;
  const loaded = await batch(ctx.db, { ...statements, state, variables });
  const plan = planRedeployment(ctx, loaded, "viewer");
  return {
    ...(await previewOf(ctx, plan, loaded, loaded.stacks)),
    changedVariables: loaded.variables,
  };
}

export async function previewPromotion(
  ctx: ServiceContext,
  id: string,
  environmentId: string,
): Promise<DeploymentPreview> {
  requireScope(ctx.actor, "environments:read");
  const statements = selectForPromotion(ctx, id, environmentId);
  const state = selectState(ctx, environmentId);
  const stacks = store.listStacksOfEnvironment(ctx.db, ctx.actor.organizationId, environmentId);
  const loaded = await batch(ctx.db, { ...statements, stacks, state });
  const plan = planPromotion(ctx, loaded, "viewer");
  return previewOf(ctx, plan, loaded, loaded.stacks);
}

function selectForRedeployment(ctx: ServiceContext, id: string) {
  const { db, actor } = ctx;
  return {
    deployment: store.findDeployment(ctx, id),
    content: store.findContent(db, actor.organizationId, id),
    environment: findEnvironment(db, actor, store.environmentIdOf(id)),
    stacks: store.listExistingStacks(db, actor.organizationId, id),
  };
}

function selectForPromotion(ctx: ServiceContext, id: string, environmentId: string) {
  const { db, actor } = ctx;
  return {
    deployment: store.findDeployment(ctx, id),
    content: store.findContent(db, actor.organizationId, id),
    environment: findEnvironment(db, actor, environmentId),
  };
}

/** What the refusal of a new deployment depends on, and what it replaces. */
function selectState({ db, actor }: ServiceContext, environmentId: store.EnvironmentId) {
  const { organizationId } = actor;
  return {
    project: store.findConnectionState(db, organizationId, environmentId),
    storage: listStorage(db, organizationId),
    queued: store.listQueued(db, organizationId, environmentId),
  };
}

type LoadedForRedeployment = Results<ReturnType<typeof selectForRedeployment>>;
type LoadedForPromotion = Results<ReturnType<typeof selectForPromotion>>;

function planRedeployment(
  { actor }: ServiceContext,
  loaded: LoadedForRedeployment,
  needed: ProjectRole,
): CopyPlan {
  const [content] = loaded.content;
  const [environment] = loaded.environment;
  authorize(actor, "deployment", loaded.deployment[0], needed);
  if (!content || !environment) throw new NotFound("deployment");
  const stackIds = loaded.stacks.map((stack) => stack.id);
  return { environment, fields: copyOf(content, environment, stackIds, "redeployment") };
}

function planPromotion(
  { actor }: ServiceContext,
  loaded: LoadedForPromotion,
  needed: ProjectRole,
): CopyPlan {
  const [content] = loaded.content;
  const deployment = authorize(actor, "deployment", loaded.deployment[0], needed);
  if (!content) throw new NotFound("deployment");
  const environment = authorize(actor, "environment", loaded.environment[0], needed);
  if (environment.projectId !== deployment.projectId) {
    throw new NotFound("environment in the project");
  }
  const { status } = deployment;
  const message = `Only a deployment that has succeeded can be promoted: this one is ${status}.`;
  const refusal = status === "succeeded" ? undefined : new Conflict(message);
  return { environment, fields: copyOf(content, environment, undefined, "promotion"), refusal };
}

function copyOf(
  { configuration, source }: DeploymentContent,
  environment: FoundEnvironment,
  stackIds: readonly string[] | undefined,
  trigger: DeploymentTrigger,
): DeploymentFields | undefined {
  if (configuration === "") return undefined;
  const current = JSON.parse(environment.configuration) as Document;
  const patch = patchBetween(current, JSON.parse(configuration) as Document);
  return {
    queue: "supersede",
    patch: JSON.stringify(patch),
    configuration,
    source,
    keepsSource: false,
    trigger,
    stackIds,
    reason: null,
    isAbsolute: true,
  };
}

function requireFields({ fields, refusal }: CopyPlan): DeploymentFields {
  if (refusal) throw refusal;
  if (!fields) throw new Conflict(CONFIGURATION_CLEARED);
  return fields;
}

type Loaded = LoadedForPromotion & { state: Results<ReturnType<typeof selectState>> };

/** The errors in the order in which the request would throw them. */
async function previewOf(
  ctx: ServiceContext,
  plan: CopyPlan,
  { deployment, state }: Loaded,
  stacks: readonly { id: string }[],
): Promise<DeploymentPreview> {
  const { actor } = ctx;
  const error = await firstError(async () => {
    requireScope(actor, "deployments:write");
    authorize(actor, "deployment", deployment[0], "contributor");
    await requireAccess(ctx, plan.environment, "deploy");
    const fields = requireFields(plan);
    requireStorage(state.storage, sizeOfDeployment(fields));
    requireDeployable(state.project[0]);
    if (stacks.length === 0) throw NO_STACKS;
  });
  return {
    environmentId: plan.environment.id,
    fields: plan.fields,
    stackIds: stacks.map(({ id }) => id),
    supersededIds: state.queued.map(({ id }) => id),
    error,
  };
}

async function firstError(check: () => Promise<void>): Promise<ApiError | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
