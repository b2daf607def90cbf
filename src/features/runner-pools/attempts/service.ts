import { requireOrgRole, requireScope, type ServiceContext } from "../../../context.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { NotFound } from "../../../lib/errors.ts";
import { findPool } from "../index.ts";
import * as store from "./store.ts";

export async function listAttempts(
  { db, actor, clock }: ServiceContext,
  organizationId: string,
  poolId: string,
  page: PageRequest,
): Promise<Page<store.AttemptRow>> {
  requireOrgRole(actor, organizationId, "admin");
  requireScope(actor, "deployments:read");
  const [[pool], rows] = await db.batch([
    findPool(db, organizationId, poolId),
    store.listAttempts(db, { organizationId, poolId }, page, clock.now()),
  ]);
  if (!pool) throw new NotFound("runner pool");
  return toPage(page, rows, (row) => row);
}
