import type { ServiceContext } from "../../../context.ts";
import { authorize } from "../../../context.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { BadInput, Conflict, NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import { commitChange } from "../../changelog/index.ts";
import { findProject, requireProject } from "../../projects/index.ts";
import { bytesOf, limitGrowth } from "../../usage/index.ts";
import type { Kind } from "../events.ts";
import { changeOf } from "./changes.ts";
import { toConfiguration } from "./configuration.ts";
import { secretContext, urlContext } from "./encryption-context.ts";
import { presentChange, presentIntegration } from "./presenters.ts";
import { newSecret, SECRET_OVERLAP_MS } from "./secret.ts";
import type { IntegrationRow } from "./store.ts";
import * as store from "./store.ts";
import { shownUrlOf, targetProblem } from "./target-url.ts";

const WHAT = "notification integration";
const FULL =
  `The project has ${store.MAXIMUM_INTEGRATIONS} notification integrations, which is the most. ` +
  "Delete one first.";

type Flags = { [Name in Kind]?: boolean | undefined };

/** An integration and its secret, to be shown once. */
export interface WithSecret {
  row: IntegrationRow;
  secret: string;
}

/** The integration of this project, for an actor who has at least the role `needed` in it. */
export async function requireIntegration(
  ctx: ServiceContext,
  projectId: string,
  id: string,
  needed: ProjectRole,
): Promise<IntegrationRow> {
  const [found] = await store.findIntegration(ctx.db, ctx.actor, projectId, id);
  return authorize(ctx.actor, WHAT, found, needed);
}

/** All integrations of a project; takes a viewer. */
export async function listIntegrations(
  ctx: ServiceContext,
  projectId: string,
): Promise<IntegrationRow[]> {
  const [[project], rows] = await ctx.db.batch([
    findProject(ctx.db, ctx.actor, projectId),
    store.listIntegrations(ctx.db, ctx.actor.organizationId, projectId),
  ]);
  authorize(ctx.actor, "project", project, "viewer");
  return rows;
}

/** One integration; takes a viewer. */
export async function getIntegration(
  ctx: ServiceContext,
  projectId: string,
  id: string,
): Promise<IntegrationRow> {
  return requireIntegration(ctx, projectId, id, "viewer");
}

/** Makes a webhook integration; takes an owner. Throws `Conflict` if the project has enough. */
export async function createIntegration(
  ctx: ServiceContext,
  projectId: string,
  input: { configuration: Flags; url: string },
): Promise<WithSecret> {
  const { organizationId } = await requireProject(ctx, projectId, "owner");
  const id = newId(ctx.clock);
  const target = await sealTarget(ctx, id, input.url);
  const secret = newSecret();
  const integration: store.NewIntegration = {
    id,
    organizationId,
    projectId,
    type: "webhook",
    configuration: JSON.stringify(toConfiguration(input.configuration)),
    ...target,
    secret: await (await ctx.cipher()).seal(secret, secretContext(organizationId, id)),
    linksTo: null,
    createdAt: ctx.clock.now(),
  };
  const row = toRow(integration);
  const limits = limitGrowth(ctx, {
    organizationId,
    records: { integrations: 1 },
    bytes: storedBytes(integration) + bytesOf(integration.secret),
  });
  const statements = {
    limits: limits.statement,
    created: store.insertIntegration(ctx.db, integration),
  };
  const change = changeOf("created", row, { after: presentIntegration(row) });
  const results = await limits.enforce(commitChange(ctx, statements, change));
  const [created] = results.created;
  if (!created) throw new Conflict(FULL);
  return { row: created, secret };
}

/** Sets the flags that are sent, and the URL; takes an owner. A disabled one is enabled again. */
export async function updateIntegration(
  ctx: ServiceContext,
  projectId: string,
  id: string,
  input: { configuration: Flags; url: string | undefined },
): Promise<IntegrationRow> {
  const before = await requireIntegration(ctx, projectId, id, "owner");
  if (input.url !== undefined && before.type === "slack") {
    refuseUrl("Leave the URL out: that of a Slack integration comes with its installation.");
  }
  const target = input.url === undefined ? undefined : await sealTarget(ctx, id, input.url);
  const now = ctx.clock.now();
  const flags = JSON.stringify(input.configuration);
  const after = {
    ...before,
    ...target,
    configuration: JSON.stringify({ ...JSON.parse(before.configuration), ...JSON.parse(flags) }),
    disabledAt: null,
    disabledReason: null,
  };
  const change = changeOf("updated", after, presentChange(before, after, target));
  const limits = limitGrowth(ctx, {
    organizationId: before.organizationId,
    bytes: target ? store.bytesOverUrl(before, storedBytes(target)) : 0,
  });
  const statements = {
    limits: limits.statement,
    updated: store.updateIntegration(ctx.db, before, { flags, target, now }),
  };
  const results = await limits.enforce(commitChange(ctx, statements, change));
  if (!results) return before;
  const [updated] = results.updated;
  if (!updated) throw new NotFound(WHAT);
  return updated;
}

/**
 * Gives a new secret; takes an owner. The former one goes on signing for a day, the one before it
 * no longer.
 */
export async function rotateSecret(
  ctx: ServiceContext,
  projectId: string,
  id: string,
): Promise<WithSecret & { previousSecretUntil: number }> {
  const before = await requireIntegration(ctx, projectId, id, "owner");
  if (before.type === "slack") throw new Conflict("A Slack integration has no secret to rotate.");
  const secret = newSecret();
  const updatedAt = ctx.clock.now();
  const previousSecretUntil = updatedAt + SECRET_OVERLAP_MS;
  const sealed = await (await ctx.cipher()).seal(secret, secretContext(before.organizationId, id));
  const change = { secret: sealed, previousSecretUntil, updatedAt };
  const until = toTimestamp(previousSecretUntil);
  const fields = { before: {}, after: { previous_secret_until: until } };
  const statements = { rotated: store.rotateSecret(ctx.db, before, change) };
  const results = await commitChange(ctx, statements, changeOf("updated", before, fields));
  const [row] = results?.rotated ?? [];
  if (!row) throw new NotFound(WHAT);
  return { row, secret, previousSecretUntil };
}

/** Deletes an integration with its deliveries; takes an owner. */
export async function deleteIntegration(
  ctx: ServiceContext,
  projectId: string,
  id: string,
): Promise<void> {
  const before = await requireIntegration(ctx, projectId, id, "owner");
  const change = changeOf("deleted", before, { before: presentIntegration(before) });
  const { deleted } = await commitChange(ctx, store.deleteIntegration(ctx.db, before), change);
  if (deleted.length === 0) throw new NotFound(WHAT);
}

/** A URL that may be sent to, sealed for the integration of this ID. */
async function sealTarget(ctx: ServiceContext, id: string, url: string) {
  const problem = targetProblem(url, ctx.allowsInsecureWebhooks);
  if (problem) return refuseUrl(problem);
  // As it was understood when it was checked, so that it can be understood in no other way.
  const { href } = new URL(url);
  const cipher = await ctx.cipher();
  const sealed = await cipher.seal(href, urlContext(ctx.actor.organizationId, id));
  return { url: sealed, shownUrl: shownUrlOf(href) };
}

function storedBytes(stored: { configuration?: string; url: string; shownUrl: string }): number {
  return bytesOf(stored.configuration, stored.url, stored.shownUrl);
}

function refuseUrl(message: string): never {
  throw new BadInput([{ path: "url", message }]);
}

function toRow(integration: store.NewIntegration): IntegrationRow {
  const { url: _, secret: __, ...shown } = integration;
  return {
    ...shown,
    previousSecretUntil: null,
    disabledAt: null,
    disabledReason: null,
    failingSince: null,
    pausedUntil: null,
    lastSentAt: null,
    updatedAt: integration.createdAt,
  };
}
