import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ServiceContext } from "../../../context.ts";
import type { Results } from "../../../db/batch.ts";
import { TOMBSTONE_ORGANIZATION_ID } from "../../../db/tombstone.ts";
import { Conflict } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { write } from "../../../writes/write.ts";
import type { AuditedAct } from "../../housekeeping/audit/index.ts";
import * as store from "./deletion-store.ts";
import { requireExpected } from "./service.ts";

type Credentials = Results<ReturnType<typeof store.deleteOrganization>>["cached"];

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
    committed: ({ cached }) =>
      ctx.invalidateKeys(firstOf(cached).map((key) => toRevokedKey(key, ctx.clock))),
  });
}

/** Their number is limited, so those of CI jobs are the last. */
function firstOf({ keys, tokens, keysOfTrusts }: Credentials): Credentials["keys"] {
  return [...keys, ...tokens, ...keysOfTrusts]
    .sort((one, other) => one.isOfTrust - other.isOfTrust)
    .slice(0, LIMITS.invalidatedCredentials.value);
}
