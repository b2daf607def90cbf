import { toRevokedKey } from "../../auth/credentials.ts";
import type { ServiceContext } from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { TOMBSTONE_ORGANIZATION_ID } from "../../db/tombstone.ts";
import { Conflict } from "../../lib/errors.ts";
import { type AuditedAct, recordActs } from "../audit/index.ts";
import * as store from "./deletion-store.ts";
import { requireCurrent } from "./service.ts";

export const DEPLOYING = "The organization has an unfinished deployment. Cancel it first.";

/** The audit record is not one of the organization, whose log is deleted with it. */
export async function deleteOrganization(ctx: ServiceContext, id: string): Promise<void> {
  const { name } = await requireCurrent(ctx, id, "owner");
  const act: AuditedAct = {
    action: "organization.deleted",
    target: { type: "organization", id, name },
  };
  const { deleted, invalidated } = await batch(ctx.db, {
    ...store.deleteOrganization(ctx, id),
    audit: recordActs(ctx, TOMBSTONE_ORGANIZATION_ID, [act]),
  });
  if (deleted.length === 0) {
    await requireCurrent(ctx, id, "owner");
    throw new Conflict(DEPLOYING);
  }
  await ctx.invalidateKeys(invalidated.map((key) => toRevokedKey(key, ctx.clock)));
}
