import { requireOrgRole, requireScope } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch, type RowsStatement } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import type { Position } from "../../../lib/cursor.ts";
import { NotFound } from "../../../lib/errors.ts";
import { findPool } from "../../tenancy/index.ts";
import * as store from "./store.ts";

type ListOfPool<Row> = (...args: Parameters<typeof store.listAttempts>) => RowsStatement<Row>;

function listWith<Row extends Position>(list: ListOfPool<Row>) {
  return async (
    { db, actor, clock }: ServiceContext,
    { org_id: organizationId, pool_id: poolId }: { org_id: string; pool_id: string },
    page: PageRequest,
  ): Promise<Page<Row>> => {
    requireOrgRole(actor, organizationId, "admin");
    requireScope(actor, "deployments:read");
    const { pools, rows } = await batch(db, {
      pools: findPool(db, organizationId, poolId),
      rows: list(db, { organizationId, poolId }, page, clock.now()),
    });
    if (!pools[0]) throw new NotFound("runner pool");
    return toPage(page, rows, (row) => row);
  };
}

export const listAttempts = listWith<store.AttemptRow>(store.listAttempts);
export const listRunners = listWith<store.RunnerRow>(store.listRunners);
