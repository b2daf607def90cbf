import { requireOrgRole } from "../../actor.ts";
import type { ServiceContext } from "../../context.ts";
import { NotFound } from "../../lib/errors.ts";
import { findPool, type PoolRow } from "./runner-pool-store.ts";

export async function getPool(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<PoolRow> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const [row] = await findPool(ctx.db, organizationId, id);
  if (!row) throw new NotFound("runner pool");
  return row;
}
