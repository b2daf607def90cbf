import { toRevokedKey } from "../../auth/credentials.ts";
import { requireExpectedVersion, requireOrgRole, type ServiceContext } from "../../context.ts";
import { after, batch } from "../../db/batch.ts";
import { type NamedPageRequest, type Page, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { orgRoleReaches } from "../../lib/roles.ts";
import { recordActs, requireFull } from "../audit/index.ts";
import { recordResult, recordRow } from "../idempotency/index.ts";
import {
  deleteUnprovenAccount,
  incrementKeyVersions,
  keysToIncrement,
  removeMembership,
} from "../memberships/index.ts";
import { limitGrowth } from "../usage/index.ts";
import type { ServiceAccountRole } from "./model.ts";
import { presentServiceAccount } from "./presenters.ts";
import type { ServiceAccountRow } from "./store.ts";
import * as store from "./store.ts";

const CHANGED = "The service account has just changed. Read it again and retry.";

export const OWNS_PROJECT =
  "The service account is the only owner of a project. Make another member owner first.";

export async function listServiceAccounts(
  ctx: ServiceContext,
  organizationId: string,
  page: NamedPageRequest,
): Promise<Page<ServiceAccountRow>> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const rows = await store.listServiceAccounts(ctx.db, organizationId, page);
  return toPage(page, rows, ({ createdAt, membershipId }) => ({ createdAt, id: membershipId }));
}

export async function getServiceAccount(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<ServiceAccountRow> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const [row] = await store.findServiceAccount(ctx.db, organizationId, id);
  if (!row) throw new NotFound("service account");
  return row;
}

export async function createServiceAccount(
  ctx: ServiceContext,
  organizationId: string,
  { name, role }: { name: string; role: ServiceAccountRole },
): Promise<ServiceAccountRow> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const now = ctx.clock.now();
  const membershipId = newId(ctx.clock);
  const accountId = newId(ctx.clock);
  const created = { membershipId, accountId, organizationId, name, role };
  const limits = limitGrowth(ctx, { organizationId, records: { members: 1 } });
  const target = { type: "service_account", id: membershipId, name } as const;
  const act = { action: "service_account.created", target, changes: { after: { role } } } as const;
  const row = { ...created, createdAt: now, updatedAt: now, recordVersion: 1 };
  await limits.enforce(
    batch(ctx.db, {
      limits: limits.statement,
      ...store.insertServiceAccount(ctx.db, { ...created, now }),
      recorded: recordResult(ctx, row),
      audit: recordActs(ctx, organizationId, [act]),
    }),
  );
  return row;
}

export async function updateServiceAccount(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  input: { name: string | undefined; role: ServiceAccountRole | undefined },
): Promise<ServiceAccountRow> {
  const before = await getCurrent(ctx, organizationId, id);
  const { name = before.name, role = before.role } = input;
  if (name === before.name && role === before.role) return before;
  if (!orgRoleReaches(before.role, role))
    await requireFull(ctx, { type: "service_account", id, name });
  const now = ctx.clock.now();
  const hasNewRole = role !== before.role;
  const change = { role: hasNewRole ? { from: before.role, to: role } : undefined, now };
  const row = store.findServiceAccount(ctx.db, organizationId, id);
  const changedKeys = hasNewRole ? keysToIncrement(organizationId, id) : [];
  const {
    changed,
    keys = [],
    found,
  } = await batch(ctx.db, {
    changed: store.updateMembership(ctx, organizationId, id, change),
    audit: recordActs(ctx, organizationId, [describeUpdate(before, { name, role })]),
    renamed:
      name === before.name
        ? undefined
        : store.renameAccount(ctx.db, organizationId, id, { name, now }),
    recorded: recordRow(ctx, row, { changedKeys }),
    keys: after(undefined, (hasChanged) =>
      hasNewRole ? incrementKeyVersions(ctx.db, organizationId, id, hasChanged) : undefined,
    ),
    found: row,
  });
  const [updated] = found;
  if (changed.length === 0 || !updated) {
    await getCurrent(ctx, organizationId, id);
    throw new Conflict(CHANGED);
  }
  await ctx.invalidateKeys(keys);
  return updated;
}

/** Deletes its keys, its project roles, and the trusts that name it. */
export async function deleteServiceAccount(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const { name, role, accountId } = await getCurrent(ctx, organizationId, id);
  const state = { from: role, now: ctx.clock.now() };
  const target = { type: "service_account", id, name } as const;
  const { keys, removed } = await batch(ctx.db, {
    ...removeMembership(ctx, organizationId, id, state),
    audit: recordActs(ctx, organizationId, [{ action: "service_account.deleted", target }]),
    account: deleteUnprovenAccount(ctx.db, accountId),
  });
  if (removed.length === 0) {
    const after = await getCurrent(ctx, organizationId, id);
    throw new Conflict(after.role === role ? OWNS_PROJECT : CHANGED);
  }
  await ctx.invalidateKeys(keys.revoked.map((key) => toRevokedKey(key, ctx.clock)));
}

/** Throws `EtagMismatch` unless it has the version that the request expects. */
async function getCurrent(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<ServiceAccountRow> {
  const row = await getServiceAccount(ctx, organizationId, id);
  await requireExpectedVersion(ctx, row.recordVersion, () => presentServiceAccount(row));
  return row;
}

function describeUpdate(
  before: ServiceAccountRow,
  after: Pick<ServiceAccountRow, "name" | "role">,
) {
  const target = { type: "service_account", id: before.membershipId, name: after.name } as const;
  const changesOf = ({ name, role }: typeof after) => ({
    ...(before.name !== after.name && { name }),
    ...(before.role !== after.role && { role }),
  });
  const changes = { before: changesOf(before), after: changesOf(after) };
  return { action: "service_account.updated", target, changes } as const;
}
