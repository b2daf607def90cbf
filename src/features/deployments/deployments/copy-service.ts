import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch, type Results } from "../../../db/batch.ts";
import { type ApiError, Conflict, NotFound } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { DeploymentTrigger } from "../../../lib/resource-types.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import { requireAccess } from "../../projects/access/index.ts";
import { type FoundEnvironment, findEnvironment } from "../../projects/environments/index.ts";
import { type DeploymentFields, queueDeployment } from "./creation-service.ts";
import { type Document, patchBetween } from "./patch.ts";
import type { DeploymentContent, DeploymentRow } from "./store.ts";
import * as store from "./store.ts";

export const CONFIGURATION_CLEARED =
  `The deployment's configuration is no longer stored: an environment keeps that of its newest ` +
  `${LIMITS.redeployableDeployments.value} deployments.`;

/** What redeploy or promote creates. */
export interface CopyPlan {
  environment: FoundEnvironment;
  /** Undefined: the configuration to deploy is no longer stored. */
  fields: DeploymentFields | undefined;
  /** Why the deployment is not promoted. */
  refusal?: ApiError | undefined;
}

/** With those of its stacks that still exist. Also rolls back. */
export async function redeploy(ctx: ServiceContext, id: string): Promise<DeploymentRow> {
  const loaded = await batch(ctx.db, selectForRedeployment(ctx, id));
  const { environment } = authorizeRedeployment(ctx, loaded, "contributor");
  await requireAccess(ctx, environment, "deploy");
  const plan = planRedeployment(ctx, loaded, "contributor");
  return queueDeployment(ctx, plan.environment, { ...requireFields(plan), copiedId: id });
}

/** Where a deployment is promoted, and what of it. */
export interface Promotion {
  environmentId: string;
  /** Undefined: all stacks of the environment. */
  stackIds?: readonly string[] | undefined;
  reason?: string | undefined;
}

/** Throws `Conflict` if the deployment has not succeeded, and `NotFound` for a stack of another environment. */
export async function promote(
  ctx: ServiceContext,
  id: string,
  promotion: Promotion,
): Promise<DeploymentRow> {
  const loaded = await batch(ctx.db, selectForPromotion(ctx, id, promotion.environmentId));
  const { environment } = authorizePromotion(ctx, loaded, "contributor");
  await requireAccess(ctx, environment, "deploy");
  const plan = planPromotion(ctx, loaded, promotion, "contributor");
  return queueDeployment(ctx, plan.environment, { ...requireFields(plan), copiedId: id });
}

export function selectForRedeployment(ctx: ServiceContext, id: string) {
  const { db, actor } = ctx;
  return {
    deployment: store.findDeployment(ctx, id),
    content: store.findContent(db, actor.organizationId, id),
    environment: findEnvironment(db, actor, store.environmentIdOf(id)),
    stacks: store.listExistingStacks(db, actor.organizationId, id),
  };
}

export function selectForPromotion(ctx: ServiceContext, id: string, environmentId: string) {
  const { db, actor } = ctx;
  return {
    deployment: store.findDeployment(ctx, id),
    content: store.findContent(db, actor.organizationId, id),
    environment: findEnvironment(db, actor, environmentId),
  };
}

type LoadedForRedeployment = Results<ReturnType<typeof selectForRedeployment>>;
type LoadedForPromotion = Results<ReturnType<typeof selectForPromotion>>;

/** Precedes the comparison of the documents. */
function authorizeRedeployment(
  { actor }: ServiceContext,
  loaded: LoadedForRedeployment,
  needed: ProjectRole,
) {
  const [content] = loaded.content;
  const [environment] = loaded.environment;
  authorize(actor, "deployment", loaded.deployment[0], needed);
  if (!content || !environment) throw new NotFound("deployment");
  return { content, environment };
}

export function planRedeployment(
  ctx: ServiceContext,
  loaded: LoadedForRedeployment,
  needed: ProjectRole,
): CopyPlan {
  const { content, environment } = authorizeRedeployment(ctx, loaded, needed);
  const stackIds = loaded.stacks.map((stack) => stack.id);
  return { environment, fields: copyOf(content, environment, stackIds, "redeployment") };
}

function authorizePromotion(
  { actor }: ServiceContext,
  loaded: LoadedForPromotion,
  needed: ProjectRole,
) {
  const [content] = loaded.content;
  const deployment = authorize(actor, "deployment", loaded.deployment[0], needed);
  if (!content) throw new NotFound("deployment");
  const environment = authorize(actor, "environment", loaded.environment[0], needed);
  if (environment.projectId !== deployment.projectId) {
    throw new NotFound("environment in the project");
  }
  return { content, deployment, environment };
}

export function planPromotion(
  ctx: ServiceContext,
  loaded: LoadedForPromotion,
  { stackIds, reason }: Promotion,
  needed: ProjectRole,
): CopyPlan {
  const { content, deployment, environment } = authorizePromotion(ctx, loaded, needed);
  const { status } = deployment;
  const message = `Only a deployment that has succeeded can be promoted: this one is ${status}.`;
  const refusal = status === "succeeded" ? undefined : new Conflict(message);
  const fields = copyOf(content, environment, stackIds, "promotion");
  return { environment, fields: fields && { ...fields, reason: reason ?? null }, refusal };
}

function copyOf(
  { configuration, source, continueOnFailure }: DeploymentContent,
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
    continueOnFailure,
    isAbsolute: true,
  };
}

export function requireFields({ fields, refusal }: CopyPlan): DeploymentFields {
  if (refusal) throw refusal;
  if (!fields) throw new Conflict(CONFIGURATION_CLEARED);
  return fields;
}
