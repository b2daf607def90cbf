import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ServiceContext } from "../../../context.ts";
import { TOMBSTONE_ORGANIZATION_ID } from "../../../db/tombstone.ts";
import { Conflict } from "../../../lib/errors.ts";
import { write } from "../../../writes/write.ts";
import type { AuditedAct } from "../../housekeeping/audit/index.ts";
import * as store from "./deletion-store.ts";
import { requireExpected } from "./service.ts";

export const DEPLOYING = "The organization has an unfinished deployment. Cancel it first.";

/** The audit entry is not one of the organization, whose log is deleted with it. */
export async function deleteOrganization(ctx: ServiceContext, id: string): Promise<void> {
  const { name } = await requireExpected(ctx, id, "owner");
  const act: AuditedAct = {
    action: "organization.deleted",
    target: { type: "organization", id, name },
  };
  const { deleted, ...first } = store.deleteOrganization(ctx, id);
  await write(ctx, {
    first,
    guarded: deleted,
    acts: [act],
    organizationId: TOMBSTONE_ORGANIZATION_ID,
    reread: () => requireExpected(ctx, id, "owner"),
    otherwise: () => new Conflict(DEPLOYING),
    committed: ({ invalidated }) =>
      ctx.invalidateKeys(invalidated.map((key) => toRevokedKey(key, ctx.clock))),
  });
}
