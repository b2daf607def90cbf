import type { RequestOrigin } from "../../context.ts";
import { after, batch } from "../../db/batch.ts";
import { openForWriting } from "../../db/client.ts";
import { refuseTaken } from "../../db/constraint-errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { equalInConstantTime } from "../../lib/digest.ts";
import { NotFound, Unauthenticated } from "../../lib/errors.ts";
import { recordActsOf } from "../audit/index.ts";
import { type NewAccount, toAccountRow } from "../memberships/index.ts";
import { type OrganizationWithKey, prepareOrganization } from "../organizations/index.ts";
import * as store from "./store.ts";

/** Throws for every token if the deployment has none. */
export async function requireBootstrapToken(
  presented: string | undefined,
  expected: string | undefined,
): Promise<void> {
  if (presented && expected && (await equalInConstantTime(presented, expected))) return;
  throw new Unauthenticated("Send the bootstrap token: authorization: Bearer <token>.");
}

export async function requireUnused(d1: D1Database): Promise<void> {
  const [bootstrapped] = await store.findBootstrap(openForWriting(d1).db);
  if (bootstrapped) throw new NotFound("path");
}

/** Succeeds once per database, also for concurrent requests. */
export async function bootstrap(
  { d1, clock, origin }: { d1: D1Database; clock: Clock; origin: RequestOrigin },
  input: { organizationName: string; account: NewAccount },
): Promise<OrganizationWithKey> {
  const { db } = openForWriting(d1);
  const account = toAccountRow(clock, input.account);
  const { created, statements, acts } = await prepareOrganization(
    { db, clock },
    { name: input.organizationName, accountId: account.id },
  );
  const { id, createdAt } = created.row.organization;
  const { organization, ...rest } = statements;
  await refuseTaken(
    batch(db, {
      organization,
      bootstrap: after(organization, () => store.insertBootstrap(db, id, createdAt)),
      account: after(organization, () => store.insertFirstAccount(db, account)),
      ...rest,
      audit: recordActsOf({ db, clock, origin }, id, { type: "bootstrap_token" }, acts),
    }),
    { "bootstraps.only": new NotFound("path") },
  );
  return created;
}
