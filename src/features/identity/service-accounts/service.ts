import { requireOrgRole } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import { NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { orgRoleReaches } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import {
  EVERYWHERE,
  requireFull,
  requireFullWhereProtected,
} from "../../housekeeping/audit/index.ts";
import { incrementKeyVersions, keysToIncrement } from "../credentials/index.ts";
import { endMembership } from "../memberships/index.ts";
import type { ServiceAccountRole } from "./model.ts";
import { CHANGED, OWNS_PROJECT } from "./model.ts";
import { presentServiceAccount } from "./presenters.ts";
import type { ServiceAccountRow } from "./store.ts";
import * as store from "./store.ts";

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
  const target = { type: "service_account", id: membershipId, name } as const;
  await requireFullWhereProtected(ctx, target, EVERYWHERE);
  const act = { action: "service_account.created", target, changes: { after: { role } } } as const;
  const { account, membership } = store.insertServiceAccount(ctx.db, { ...created, now });
  return write(ctx, {
    growth: { organizationId, records: { members: 1 } },
    guarded: account,
    also: { membership },
    value: { ...created, createdAt: now, updatedAt: now, version: 1 },
    acts: [act],
  });
}

export async function updateServiceAccount(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  input: { name: string | undefined; role: ServiceAccountRole | undefined },
): Promise<ServiceAccountRow> {
  const before = await requireExpected(ctx, organizationId, id);
  const { name = before.name, role = before.role } = input;
  if (name === before.name && role === before.role) return before;
  if (!orgRoleReaches(before.role, role))
    await requireFull(ctx, { type: "service_account", id, name });
  const now = ctx.clock.now();
  const hasNewRole = role !== before.role;
  const change = { role: hasNewRole ? { from: before.role, to: role } : undefined, now };
  const guarded = store.updateMembership(ctx, organizationId, id, change);
  const row = store.findServiceAccount(ctx.db, organizationId, id);
  const results = await writeBatch(ctx, {
    guarded,
    also: {
      renamed:
        name === before.name
          ? undefined
          : store.renameAccount(ctx.db, organizationId, id, { name, now }, guarded),
    },
    entry: { row, changedKeys: hasNewRole ? keysToIncrement(organizationId, id) : [] },
    acts: [describeUpdate(before, { name, role })],
    effects: {
      keys: after(guarded, (hasChanged) =>
        hasNewRole ? incrementKeyVersions(ctx.db, organizationId, id, hasChanged) : undefined,
      ),
    },
    reads: { row },
  });
  const [updated] = results.reads.row;
  if (results.guarded.length === 0 || !updated) {
    await requireExpected(ctx, organizationId, id);
    throw CHANGED;
  }
  await ctx.invalidateKeys(results.effects.keys ?? []);
  return updated;
}

/** Deletes its keys, its project roles, and the trusts that name it. */
export async function deleteServiceAccount(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const { name, role, accountId } = await requireExpected(ctx, organizationId, id);
  const state = { from: role, now: ctx.clock.now() };
  const target = { type: "service_account", id, name } as const;
  const act = { action: "service_account.deleted", target } as const;
  if (await endMembership(ctx, { organizationId, id, accountId }, state, act)) return;
  const found = await requireExpected(ctx, organizationId, id);
  throw found.role === role ? OWNS_PROJECT : CHANGED;
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireExpected(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<ServiceAccountRow> {
  const row = await getServiceAccount(ctx, organizationId, id);
  const target = { type: "service_account", id, name: row.name } as const;
  await requireFullWhereProtected(ctx, target, EVERYWHERE);
  await requireExpectedVersion(ctx, row.version, () => presentServiceAccount(row));
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
