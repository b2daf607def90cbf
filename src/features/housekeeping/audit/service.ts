import { requireOrgRole } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import type { Position } from "../../../lib/cursor.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { describeError } from "../../../lib/log.ts";
import { toStream } from "../../../lib/stream.ts";
import { type Boundaries, findProtectedEnvironment, type PoolRow } from "../../tenancy/index.ts";
import { exportLines } from "./export.ts";
import { type AuditEntryRow, type AuditFilter, listEntries } from "./list-store.ts";
import type { AuditedAct } from "./model.ts";
import { auditExport, auditRefusal } from "./store.ts";

/** Writes to the audit log that the actor asked for more than its key has, and throws the refusal. */
export async function refuseEscalation(
  ctx: ServiceContext,
  target: AuditedAct["target"],
  refusal: Unauthorized,
): Promise<never> {
  await auditRefusal(ctx, ctx.actor.organizationId, target);
  throw refusal;
}

const FULL =
  "a key that the person has made, with the whole role of the membership, and without scopes, projects, " +
  "environments and expires_at, or a session from one. A sign-in has all of that.";

export const NOT_FULL = new Unauthorized(`This needs ${FULL}`);

export function notFullIn(environmentName: string): Unauthorized {
  const because = `because the environment "${environmentName}" is protected`;
  return new Unauthorized(`This needs a full credential, ${because}: ${FULL}`);
}

/** Throws, and audits the refusal, unless the credential is the person's own, with all that it may do. */
export async function requireFull(
  ctx: ServiceContext,
  target: AuditedAct["target"],
): Promise<void> {
  if (!ctx.actor.isFull) await refuseEscalation(ctx, target, NOT_FULL);
}

export const EVERYWHERE: Boundaries = { projectIds: null, environmentIds: null };

/** Like `requireFull`, for what rules depend on: as soon as an environment within the boundaries is protected. */
export async function requireFullWhereProtected(
  ctx: ServiceContext,
  target: AuditedAct["target"],
  boundaries: Boundaries,
): Promise<void> {
  if (ctx.actor.isFull) return;
  const [found] = await findProtectedEnvironment(ctx.db, ctx.actor.organizationId, boundaries);
  if (found) await refuseEscalation(ctx, target, notFullIn(found.name));
}

/** What changing a runner pool or its tokens needs beside the role: its runners read what they deploy. */
export async function requirePoolAuthority(
  ctx: ServiceContext,
  { id, name, environmentIds }: Pick<PoolRow, "id" | "name" | "environmentIds">,
  added: readonly string[] = [],
): Promise<void> {
  const place = {
    projectIds: null,
    environmentIds: [...(JSON.parse(environmentIds) as string[]), ...added],
  };
  await requireFullWhereProtected(ctx, { type: "runner_pool", id, name }, place);
}

export async function listAuditLog(
  ctx: ServiceContext,
  organizationId: string,
  filter: AuditFilter,
  page: PageRequest,
): Promise<Page<AuditEntryRow>> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const rows = await listEntries(ctx.db, organizationId, filter, page);
  return toPage(page, rows, (row) => row);
}

/**
 * Audits the export in the batch that reads its first page. Leaves out the newest entries: an act
 * that is in progress has taken its time, but has no entry yet, and a cursor would pass it.
 */
export async function exportAuditLog(
  ctx: ServiceContext,
  organizationId: string,
  filter: AuditFilter,
  after: Position | undefined,
): Promise<ReadableStream<Uint8Array>> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const newest = ctx.clock.now() - LIMITS.auditExportAgeMs.value;
  const settled = { ...filter, to: Math.min(filter.to ?? newest, newest) };
  const firstPage = pageAfter(after);
  const { rows } = await batch(ctx.db, {
    audit: auditExport(ctx, organizationId),
    rows: listEntries(ctx.db, organizationId, settled, firstPage),
  });
  const readNext = async (position: Position) => {
    const page = pageAfter(position);
    const next = await listEntries(ctx.db, organizationId, settled, page);
    return toPage(page, next, (row) => row);
  };
  const first = toPage(firstPage, rows, (row) => row);
  return toStream(exportLines({ after, first, readNext }), {
    onError: (error) => {
      const { requestId } = ctx.origin;
      ctx.log("error", "audit_log.export_broke_off", {
        request_id: requestId,
        ...describeError(error),
      });
    },
  });
}

function pageAfter(after: Position | undefined): PageRequest {
  return { limit: LIMITS.pageItems.value, direction: "asc", after };
}
