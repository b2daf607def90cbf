import type { RequestOrigin, SystemContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import { openForWriting } from "../../../db/client.ts";
import { equalInConstantTime } from "../../../lib/digest.ts";
import { NotFound, Unauthenticated } from "../../../lib/errors.ts";
import { SEND_BOOTSTRAP_TOKEN } from "../../../lib/header-errors.ts";
import { write } from "../../../writes/write.ts";
import { type NewAccount, toAccountRow } from "../memberships/index.ts";
import { type OrganizationWithKey, prepareOrganization } from "../organizations/index.ts";
import * as store from "./store.ts";

/** The context of a request with the bootstrap token. */
export interface BootstrapContext extends SystemContext {
  origin: RequestOrigin;
}

/** Throws for every token if the deployment has none, or has an organization. */
export async function requireBootstrapToken(
  d1: D1Database,
  presented: string | undefined,
  expected: string | undefined,
): Promise<void> {
  if (!presented || !expected || !(await equalInConstantTime(presented, expected))) {
    throw new Unauthenticated(SEND_BOOTSTRAP_TOKEN);
  }
  const [bootstrapped] = await store.findBootstrap(openForWriting(d1).db);
  if (bootstrapped) throw new NotFound("path");
}

/** Succeeds once per database, also for concurrent requests. */
export async function bootstrap(
  ctx: BootstrapContext,
  input: { organizationName: string; account: NewAccount },
): Promise<OrganizationWithKey> {
  const { db, clock } = ctx;
  const account = toAccountRow(clock, input.account);
  const { created, statements, acts } = await prepareOrganization(
    { db, clock },
    { name: input.organizationName, accountId: account.id },
  );
  const { id: organizationId, createdAt } = created.row.organization;
  const { organization: guarded, ...others } = statements;
  return write(
    { ...ctx, actor: { type: "bootstrap_token", organizationId } },
    {
      guarded,
      also: {
        // First: it decides between concurrent callers, who may send the same account.
        bootstrap: after(guarded, () => store.insertBootstrap(db, organizationId, createdAt)),
        account: after(guarded, () => store.insertFirstAccount(db, account)),
        ...others,
      },
      value: created,
      acts,
      taken: { "bootstraps.only": new NotFound("path") },
    },
  );
}
