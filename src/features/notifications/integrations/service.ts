import { authorize } from "../../../actor.ts";
import type { ServiceContext, SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { BadInput, NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { maskUrl } from "../../../lib/mask-url.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import { allowsInsecureWebhooks } from "../../../lib/settings.ts";
import { targetProblem } from "../../../lib/target-url.ts";
import { takeTurn } from "../../../turns.ts";
import { write } from "../../../writes/write.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { type Change, writeChanges } from "../../housekeeping/changelog/index.ts";
import { findProject, requireProject } from "../../projects/projects/index.ts";
import {
  DISABLED,
  type Filters,
  FULL,
  isConfirmed,
  LAPSED,
  NO_SECRET,
  type PartialConfiguration,
  type Reference,
  UNCONFIRMED,
  URL_OF_SLACK,
} from "./model.ts";
import { presentIntegration, presentUpdate, toChange, toConfiguration } from "./presenters.ts";
import { newSecret, SECRET_OVERLAP_MS, secretContext, urlContext } from "./secret.ts";
import type { IntegrationRow } from "./store.ts";
import * as store from "./store.ts";

const NAME = "notification integration";

const UNKNOWN = {
  environments: "environment in the project",
  stacks: "stack in the project",
} as const;

/** The secret is in one response only. */
export interface WithSecret {
  row: IntegrationRow;
  secret: string;
}

export async function requireIntegration(
  ctx: ServiceContext,
  projectId: string,
  id: string,
  needed: ProjectRole,
): Promise<IntegrationRow> {
  const [found] = await store.findIntegration(ctx.db, ctx.actor, projectId, id);
  return authorize(ctx.actor, NAME, found, needed);
}

export async function listIntegrations(
  ctx: ServiceContext,
  projectId: string,
): Promise<IntegrationRow[]> {
  const { projects, rows } = await batch(ctx.db, {
    projects: findProject(ctx.db, ctx.actor, projectId),
    rows: store.listIntegrations(ctx.db, ctx.actor.organizationId, projectId),
  });
  authorize(ctx.actor, "project", projects[0], "viewer");
  return rows;
}

export async function getIntegration(
  ctx: ServiceContext,
  projectId: string,
  id: string,
): Promise<IntegrationRow> {
  return requireIntegration(ctx, projectId, id, "viewer");
}

export async function createIntegration(
  ctx: ServiceContext,
  projectId: string,
  input: { configuration: PartialConfiguration; url: string; filters: Filters },
): Promise<WithSecret> {
  const { filters } = input;
  const { organizationId } = await requireProject(ctx, projectId, "owner");
  const id = newId(ctx.clock);
  const reference = { organizationId, projectId, id };
  const target = await sealTarget(ctx, reference, input.url);
  const secret = newSecret();
  const integration: store.NewIntegration = {
    ...reference,
    type: "webhook",
    configuration: JSON.stringify(toConfiguration(input.configuration)),
    ...target,
    environmentIds: store.toJson(filters.environmentIds ?? null),
    stackIds: store.toJson(filters.stackIds ?? null),
    secret: await (await ctx.cipher()).seal(secret, secretContext(reference)),
    linksTo: null,
    slackChannel: null,
    confirmBy: null,
    createdAt: ctx.clock.now(),
  };
  return write(ctx, {
    growth: {
      organizationId,
      records: { integrations: 1 },
      bytes: storedBytes(integration) + bytesOf(integration.secret),
    },
    guarded: store.insertIntegration(ctx.db, integration, { filters }),
    returns: store.selectIntegration(ctx.db, reference),
    secrets: { secret },
    changes: [toCreatedChange(integration)],
    reread: () => requireKnown(ctx, reference, filters),
    otherwise: () => FULL,
  });
}

async function requireKnown(ctx: ServiceContext, reference: Reference, filters: Filters) {
  const unknown = await store.findUnknown(ctx.db, reference, filters);
  if (unknown) throw new NotFound(UNKNOWN[unknown.kind]);
}

/** Any update enables a disabled integration. None confirms an installation. */
export async function updateIntegration(
  ctx: ServiceContext,
  projectId: string,
  id: string,
  input: { configuration: PartialConfiguration; url: string | undefined; filters: Filters },
): Promise<IntegrationRow> {
  const before = await requireExpected(ctx, projectId, id);
  if (input.url !== undefined && before.type === "slack") {
    refuseUrl(URL_OF_SLACK);
  }
  const target = input.url === undefined ? undefined : await sealTarget(ctx, before, input.url);
  const now = ctx.clock.now();
  const flags = JSON.stringify(input.configuration);
  const { filters } = input;
  const { environmentIds, stackIds } = filters;
  const isReset = target !== undefined || before.disabledAt !== null;
  const after = {
    ...before,
    ...target,
    ...(environmentIds !== undefined && { environmentIds: store.toJson(environmentIds) }),
    ...(stackIds !== undefined && { stackIds: store.toJson(stackIds) }),
    ...(isReset && { failingSince: null, pausedUntil: null }),
    configuration: JSON.stringify({ ...JSON.parse(before.configuration), ...JSON.parse(flags) }),
    disabledAt: null,
    disabledReason: null,
  };
  return write(ctx, {
    growth: {
      organizationId: before.organizationId,
      bytes: target ? store.addedUrlBytes(before, storedBytes(target)) : 0,
    },
    guarded: store.updateIntegration(ctx, before, { flags, target, filters, now }),
    returns: store.selectIntegration(ctx.db, before),
    changes: [toChange("updated", after, presentUpdate(before, after, target))],
    unchanged: before,
    reread: async () => {
      await requireKnown(ctx, before, filters);
      await requireExpected(ctx, projectId, id);
    },
    otherwise: () => new NotFound(NAME),
  });
}

/** Ends the pause, and makes the retries due that wait for a later time. */
export async function resumeIntegration(
  ctx: ServiceContext,
  projectId: string,
  id: string,
): Promise<IntegrationRow> {
  const { db, actor } = ctx;
  const now = ctx.clock.now();
  const reference = { organizationId: actor.organizationId, projectId, id };
  const { found, manyRetries } = await batch(db, {
    found: store.findIntegration(db, actor, projectId, id),
    manyRetries: store.findManyRetries(db, reference, now),
  });
  const before = authorize(actor, NAME, found[0], "owner");
  if (manyRetries.length > 0) await advanceAll(ctx, before, now);
  const after = { ...before, pausedUntil: null };
  const fields = { before: presentIntegration(before), after: presentIntegration(after) };
  const { resumed, ...first } = store.resumeIntegration(ctx, before, now);
  return write(ctx, {
    first,
    guarded: resumed,
    returns: store.selectIntegration(db, before),
    changes: [toChange("resumed", before, fields)],
    reread: () => requireReceiving(ctx, projectId, id),
    otherwise: () => DISABLED,
  });
}

/** Before the commit, because a repeat of the request does not continue what remains after it. */
async function advanceAll(ctx: ServiceContext, reference: IntegrationRow, now: number) {
  let atOnce: number = store.RESUMED_AT_ONCE;
  for (let advanced = 0; atOnce === store.RESUMED_AT_ONCE; advanced += atOnce) {
    if (advanced >= LIMITS.resumedDeliveries.value) return;
    atOnce = (await store.advanceRetries(ctx.db, reference, now)).length;
  }
}

/** Throws `Conflict` if the integration receives nothing. */
export async function requireReceiving(
  ctx: ServiceContext,
  projectId: string,
  id: string,
): Promise<void> {
  const found = await requireIntegration(ctx, projectId, id, "owner");
  if (!isConfirmed(found)) throw UNCONFIRMED;
  if (found.disabledAt !== null) throw DISABLED;
}

/** Only one previous secret is kept: another rotation within the overlap drops it. */
export async function rotateSecret(
  ctx: ServiceContext,
  projectId: string,
  id: string,
): Promise<WithSecret & { previousSecretUntil: number }> {
  const before = await requireIntegration(ctx, projectId, id, "owner");
  if (before.type === "slack") throw NO_SECRET;
  const secret = newSecret();
  const updatedAt = ctx.clock.now();
  const previousSecretUntil = updatedAt + SECRET_OVERLAP_MS;
  const sealed = await (await ctx.cipher()).seal(secret, secretContext(before));
  const change = { secret: sealed, previousSecretUntil, updatedAt };
  const until = toTimestamp(previousSecretUntil);
  const fields = { before: {}, after: { previous_secret_until: until } };
  const secrets = { secret, previousSecretUntil };
  return write(ctx, {
    guarded: store.rotateSecret(ctx.db, before, change),
    returns: store.selectIntegration(ctx.db, before),
    secrets,
    // The time differs, so that this change is never none.
    changes: [{ ...toChange("updated", before, fields), auditedAs: "integration.secret_rotated" }],
    unchanged: { row: before, ...secrets },
    otherwise: () => new NotFound(NAME),
  });
}

/** Idempotent. */
export async function confirmIntegration(
  ctx: ServiceContext,
  projectId: string,
  id: string,
): Promise<IntegrationRow> {
  const before = await requireIntegration(ctx, projectId, id, "owner");
  if (isConfirmed(before)) return before;
  const now = ctx.clock.now();
  const after = { ...before, confirmedAt: now, confirmBy: null };
  const fields = { before: presentIntegration(before), after: presentIntegration(after) };
  const results = await writeBatch(ctx, {
    guarded: store.confirmIntegration(ctx.db, before, now),
    entry: { row: store.selectIntegration(ctx.db, before) },
    changes: [toChange("confirmed", before, fields)],
  });
  const [confirmed] = results.guarded;
  if (confirmed) return confirmed;
  const found = await requireIntegration(ctx, projectId, id, "owner");
  if (!isConfirmed(found)) throw LAPSED;
  return found;
}

/** Deletes installations that nobody has confirmed in time. */
export async function sweepIntegrations(ctx: SystemContext): Promise<void> {
  const limit = LIMITS.sweepInstallations.value;
  for (const row of await store.listLapsed(ctx.db, ctx.clock.now(), limit)) {
    await takeTurn(ctx, row.organizationId, async (own, organizationId) => {
      const change = toChange("deleted", row, { before: presentIntegration(row) });
      const { deleted, ...first } = store.deleteLapsed(own, row);
      const changelog = writeChanges(own, organizationId, [change], deleted);
      return batch(own.db, { first, deleted, changelog });
    });
  }
}

export async function deleteIntegration(
  ctx: ServiceContext,
  projectId: string,
  id: string,
): Promise<void> {
  const before = await requireExpected(ctx, projectId, id);
  const { deleted, ...first } = store.deleteIntegration(ctx, before);
  await write(ctx, {
    first,
    guarded: deleted,
    changes: [toChange("deleted", before, { before: presentIntegration(before) })],
    reread: () => requireExpected(ctx, projectId, id),
    otherwise: () => new NotFound(NAME),
  });
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireExpected(
  ctx: ServiceContext,
  projectId: string,
  id: string,
): Promise<IntegrationRow> {
  const row = await requireIntegration(ctx, projectId, id, "owner");
  await requireExpectedVersion(ctx, row.version, () => presentIntegration(row));
  return row;
}

async function sealTarget(ctx: ServiceContext, reference: Reference, url: string) {
  const problem = targetProblem(url, allowsInsecureWebhooks(ctx.settings));
  if (problem) return refuseUrl(problem);
  // Stores the parsed form, so that no other parser can read the URL differently.
  const { href } = new URL(url);
  const cipher = await ctx.cipher();
  const sealed = await cipher.seal(href, urlContext(reference));
  return { url: sealed, maskedUrl: maskUrl(href) };
}

function storedBytes(stored: { configuration?: string; url: string; maskedUrl: string }): number {
  return bytesOf(stored.configuration, stored.url, stored.maskedUrl);
}

function refuseUrl(message: string): never {
  throw new BadInput([{ path: "url", message }]);
}

export function toCreatedChange(integration: store.NewIntegration): Change<"created"> {
  const row = toRow(integration);
  return toChange("created", row, { after: presentIntegration(row) });
}

function toRow(integration: store.NewIntegration): IntegrationRow {
  const { url: _, secret: __, ...fields } = integration;
  return {
    ...fields,
    previousSecretUntil: null,
    disabledAt: null,
    disabledReason: null,
    failingSince: null,
    pausedUntil: null,
    failureNotifiedAt: null,
    pauseNotifiedAt: null,
    lastSentAt: null,
    confirmedAt: null,
    updatedAt: integration.createdAt,
    version: 1,
  };
}
