import { requireOrgRole, requireScope } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { NotFound } from "../../../lib/errors.ts";
import { findPool } from "../../tenancy/index.ts";
import * as store from "./store.ts";

export async function listAttempts(
  { db, actor, clock }: ServiceContext,
  organizationId: string,
  poolId: string,
  page: PageRequest,
): Promise<Page<store.AttemptRow>> {
  requireOrgRole(actor, organizationId, "admin");
  requireScope(actor, "deployments:read");
  const { pools, rows } = await batch(db, {
    pools: findPool(db, organizationId, poolId),
    rows: store.listAttempts(db, { organizationId, poolId }, page, clock.now()),
  });
  if (!pools[0]) throw new NotFound("runner pool");
  return toPage(page, rows, (row) => row);
}
