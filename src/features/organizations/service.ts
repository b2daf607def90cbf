import {
  lineageOf,
  requireExpectedVersion,
  requireOrganization,
  requireOrgRole,
  type ServiceContext,
} from "../../context.ts";
import { batch } from "../../db/batch.ts";
import type { Database } from "../../db/client.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import type { Clock } from "../../lib/clock.ts";
import { NotFound, Unauthorized } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { mergePatch } from "../../lib/merge-patch.ts";
import type { OrgRole } from "../../lib/roles.ts";
import {
  CREATOR_CHANGED,
  insertKey,
  isAsAuthenticated,
  issueApiKey,
  newKeyRow,
} from "../api-keys/index.ts";
import { type AuditedAct, recordActs, requireFull } from "../audit/index.ts";
import { recordRow, recordWithSecrets } from "../idempotency/index.ts";
import { limitGrowth } from "../usage/index.ts";
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
  if (!ctx.allowsNewOrganizations) {
    throw new Unauthorized("This deployment does not let API keys create organizations.");
  }
  const { actor } = ctx;
  const { accountId, organizationId } = actor;
  await requireFull(ctx, { type: "organization", id: organizationId });
  const { issuedByKeyId, createdBySessionId } = lineageOf(actor);
  const lineage = { issuedByKeyId, createdBySessionId };
  const founder = { accountId, lineage, condition: isAsAuthenticated(actor) };
  const { created, statements, acts } = await prepareOrganization(ctx, { ...input, ...founder });
  const limits = limitGrowth(ctx, { organizationId, bounds: [store.ownedCountBound(accountId)] });
  const audit = recordActs(ctx, created.row.organization.id, acts);
  const recorded = await recordWithSecrets(ctx, created.row, { key: created.key });
  const results = await limits.enforce(
    batch(ctx.db, { limits: limits.statement, statements, recorded, audit }),
  );
  if (results.statements.organization.length === 0) throw CREATOR_CHANGED;
  return created;
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
  const before = await requireCurrent(ctx, id, "admin");
  const { name } = mergePatch(before, change);
  if (name === before.name) return before;
  const act: AuditedAct = {
    action: "organization.renamed",
    target: { type: "organization", id, name },
    changes: { before: { name: before.name }, after: { name } },
  };
  const { changed } = await batch(ctx.db, {
    changed: store.renameOrganization(ctx, id, name),
    recorded: recordRow(ctx, store.findOrganization(ctx.db, id)),
    audit: recordActs(ctx, id, [act]),
  });
  const [organization] = changed;
  if (organization) return organization;
  await requireCurrent(ctx, id, "admin");
  throw new NotFound("organization");
}

/** Throws unless the actor has the role, and the organization the version that the request expects. */
export async function requireCurrent(
  ctx: ServiceContext,
  id: string,
  role: OrgRole,
): Promise<OrganizationRow> {
  requireOrgRole(ctx.actor, id, role);
  const organization = await getOrganization(ctx, id);
  const { recordVersion } = organization;
  await requireExpectedVersion(ctx, recordVersion, () => presentOrganization(organization));
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
}

/** `acts` are for the audit log of the organization, after the statements. */
export async function prepareOrganization(
  { db, clock }: { db: Database; clock: Clock },
  { name, accountId, lineage, condition }: NewOrganization,
) {
  const now = clock.now();
  const times = { createdAt: now, updatedAt: now };
  const organization = {
    id: newId(clock),
    name,
    ...times,
    maxKeyAgeSeconds: null,
    deliveryWeight: 1,
    recordVersion: 1,
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
  const statements = {
    organization: store.insertOrganization(db, organization, condition),
    owner: store.insertOwner(db, membership),
    key: insertKey(db, row, store.exists(organization)),
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
