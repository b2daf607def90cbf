import { lineageOf, requireOrganization, requireOrgRole } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import type { Clock } from "../../../lib/clock.ts";
import { NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { mergePatch } from "../../../lib/merge-patch.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import { type AuditedAct, requireFull } from "../../housekeeping/audit/index.ts";
import { CREATOR_CHANGED, insertKey, issueApiKey, newKeyRow } from "../api-keys/index.ts";
import { isAsAuthenticated } from "../credentials/index.ts";
import { CREATION_DISABLED } from "./model.ts";
import { presentOrganization } from "./presenters.ts";
import type { OrganizationRow, OrganizationWithKey } from "./store.ts";
import * as store from "./store.ts";

const FIRST_KEY_NAME = "First key";

export async function listOrganizations(
  ctx: ServiceContext,
  page: PageRequest,
): Promise<Page<OrganizationRow>> {
  const rows = await store.listOrganization(ctx.db, ctx.actor.organizationId, page);
  return toPage(page, rows, (row) => row);
}

export async function createOrganization(
  ctx: ServiceContext,
  input: { name: string },
): Promise<OrganizationWithKey> {
  if (ctx.settings.ALLOW_NEW_ORGANIZATIONS !== "true") {
    throw CREATION_DISABLED;
  }
  const { actor } = ctx;
  const { accountId, organizationId } = actor;
  await requireFull(ctx, { type: "organization", id: organizationId });
  const { issuedByKeyId, createdBySessionId } = lineageOf(actor);
  const lineage = { issuedByKeyId, createdBySessionId };
  const founder = {
    accountId,
    founderId: organizationId,
    lineage,
    condition: isAsAuthenticated(actor),
  };
  const { created, statements, acts } = await prepareOrganization(ctx, { ...input, ...founder });
  const { organization: guarded, ...also } = statements;
  return write(ctx, {
    growth: {
      organizationId,
      bounds: [store.ownedCountBound(accountId), store.foundedCountBound(organizationId)],
    },
    guarded,
    also,
    value: created.row,
    secrets: { key: created.key },
    acts,
    organizationId: created.row.organization.id,
    otherwise: () => CREATOR_CHANGED,
  });
}

export async function getOrganization(ctx: ServiceContext, id: string): Promise<OrganizationRow> {
  requireOrganization(ctx.actor, id);
  const [organization] = await store.findOrganization(ctx.db, id);
  if (!organization) throw new NotFound("organization");
  return organization;
}

export async function updateOrganization(
  ctx: ServiceContext,
  id: string,
  change: { name?: string | undefined },
): Promise<OrganizationRow> {
  const before = await requireExpected(ctx, id, "admin");
  const { name } = mergePatch(before, change);
  if (name === before.name) return before;
  const act: AuditedAct = {
    action: "organization.renamed",
    target: { type: "organization", id, name },
    changes: { before: { name: before.name }, after: { name } },
  };
  return write(ctx, {
    guarded: store.renameOrganization(ctx, id, name),
    returns: store.findOrganization(ctx.db, id),
    acts: [act],
    reread: () => requireExpected(ctx, id, "admin"),
    otherwise: () => new NotFound("organization"),
  });
}

/** Throws unless the actor has the role, and the organization the version that the request expects. */
export async function requireExpected(
  ctx: ServiceContext,
  id: string,
  role: OrgRole,
): Promise<OrganizationRow> {
  requireOrgRole(ctx.actor, id, role);
  const organization = await getOrganization(ctx, id);
  const { version } = organization;
  await requireExpectedVersion(ctx, version, () => presentOrganization(organization));
  return organization;
}

export interface NewOrganization {
  name: string;
  /** Of its owner. */
  accountId: string;
  /**
   * The family of its first key. The key that founds it does not bound it, and is not shown to the new
   * organization. Absent: the first organization.
   */
  lineage?: Pick<ReturnType<typeof lineageOf>, "issuedByKeyId" | "createdBySessionId">;
  /** Nothing is inserted unless it holds. Absent: always. */
  condition?: ReturnType<typeof isAsAuthenticated>;
  /** The organization whose key founds it. Absent: none. */
  founderId?: string;
}

/**
 * The organization, and what is inserted with it. `acts` are for its audit log, after the statements.
 */
export async function prepareOrganization(
  { db, clock }: { db: Database; clock: Clock },
  { name, accountId, lineage, condition, founderId }: NewOrganization,
) {
  const now = clock.now();
  const times = { createdAt: now, updatedAt: now };
  const organization = {
    id: newId(clock),
    name,
    ...times,
    maxKeyAgeSeconds: null,
    deliveryWeight: 1,
    version: 1,
    limitsOrganizationId: null,
  };
  const membership = { id: newId(clock), organizationId: organization.id, accountId, now };
  const issued = await issueApiKey(newId(clock));
  const row = {
    ...newKeyRow(issued, now),
    organizationId: organization.id,
    membershipId: membership.id,
    name: FIRST_KEY_NAME,
    role: "owner",
    createdByMembershipId: membership.id,
    ...lineage,
    isOwn: true,
  } as const;
  const created: OrganizationWithKey = { row: { organization, apiKey: row }, key: issued.key };
  const inserted = store.insertOrganization(db, organization, { condition, founderId });
  const statements = {
    organization: inserted,
    owner: after(inserted, () => store.insertOwner(db, membership)),
    key: after(inserted, () => insertKey(db, row, store.exists(organization))),
  };
  return { created, statements, acts: actsOf(created.row) };
}

function actsOf({ organization, apiKey }: OrganizationWithKey["row"]): AuditedAct[] {
  const { id, name, role, membershipId } = apiKey;
  return [
    {
      action: "organization.created",
      target: { type: "organization", id: organization.id, name: organization.name },
    },
    {
      action: "member.added",
      target: { type: "member", id: membershipId },
      changes: { after: { role } },
    },
    {
      action: "api_key.created",
      target: { type: "api_key", id, name },
      changes: { after: { name, role, membership_id: membershipId } },
    },
  ];
}
