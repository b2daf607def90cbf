import { describe, expect, it } from "vitest";
import { sources } from "./support/source-files.ts";
import { findWritingFunctions } from "./support/writing-functions.ts";

/** What writes outside of `src/writes`: by the path of a file and the name of a function in it. */
const OTHER_WRITERS: readonly { what: RegExp; because: string }[] = [
  { what: /^writes\/write-batch\.ts: writeBatch$/, because: "Every write of a caller." },
  { what: /: sweep\w+$|\/sweep\.ts: /, because: "The schedule." },
  { what: /^features\/housekeeping\/purge\//, because: "The purge." },
  {
    what: /^features\/deployments\/deployments\/evaluation-service\.ts: evaluate(All|Next)$/,
    because: "What follows of rules, of the schedule or after a commit.",
  },
  {
    what: /^features\/deployments\/deployments\/service\.ts: endSome$/,
    because: "What the schedule ends.",
  },
  {
    what: /^features\/deployments\/deployments\/digest-service\.ts: /,
    because: "Digests, which no caller chooses, of the schedule or after a commit.",
  },
  {
    what: /^features\/deployments\/runner-api\//,
    because: "Calls of runners, with the fence of their attempt.",
  },
  {
    what: /^features\/deployments\/alarms\/service\.ts: reportAlarmAsRunner$/,
    because: "A call of a runner.",
  },
  { what: /^features\/notifications\/delivery\/sender\.ts: /, because: "The queue's consumer." },
  {
    what: /^features\/notifications\/(recoveries\/service\.ts: advance|integrations\/service\.ts: advanceAll)$/,
    because: "Deliveries of a recovery, in chunks.",
  },
  { what: /\/credentials\.ts: \w+Store$/, because: "When a credential was last used." },
  { what: /^features\/housekeeping\/idempotency\/once\.ts: /, because: "The entries themselves." },
  {
    what: /^features\/housekeeping\/audit\/service\.ts: (refuseEscalation|exportAuditLog)$/,
    because: "What only the audit log has: refusals and exports.",
  },
];

describe("writes of callers", () => {
  const found = findWritingFunctions(sources);

  it("go through src/writes", () => {
    const isOther = (each: string) => OTHER_WRITERS.some(({ what }) => what.test(each));
    expect(found.filter((each) => !isOther(each))).toEqual([]);
    const unused = OTHER_WRITERS.filter(({ what }) => !found.some((each) => what.test(each)));
    expect(unused).toEqual([]);
  });

  it.each([
    ["by a statement", "batch(ctx.db, { deleted: ctx.db.delete(stacks) })"],
    [
      "by a constant",
      "batch(ctx.db, statements)",
      "const statements = { done: store.remove(ctx) };",
    ],
    ["by a function of a store", "batch(ctx.db, { ...store.remove(ctx), read: store.list(ctx) })"],
    ["by an index", "batch(ctx.db, { audit: auditRead(ctx, id, act, options) })"],
    ["by a helper", "batch(ctx.db, plan(ctx))"],
    ["by an argument", "batch(ctx.db, given)"],
    ["by another name", "run(ctx.db, { removed: store.remove(ctx) })"],
    ["without a batch", "store.remove(ctx)"],
  ])("are found if they are made elsewhere: %s", (_, call, before = "") => {
    const violating = {
      "features/violating/store.ts": `
import { insertFrom } from "../../db/insert-from.ts";
import { stacks } from "../tenancy/stack-table.ts";
export function remove({ db }: Context) {
  return { removed: db
    .delete(stacks) };
}
export function list({ db }: Context) {
  return db.select().from(stacks);
}
`,
      "features/violating/service.ts": `
import { batch, batch as run } from "../../db/batch.ts";
import { auditRead } from "../housekeeping/audit/index.ts";
import * as store from "./store.ts";
export async function verb(ctx: ServiceContext, given: Statements) {
  ${before}
  await ${call};
}
export async function reads(ctx: ServiceContext) {
  const { rows } = await batch(ctx.db, { rows: store.list(ctx) });
  return rows;
}
function plan(ctx: ServiceContext) {
  return { first: store.list(ctx), then: store.remove(ctx) };
}
`,
    };
    const all = findWritingFunctions({ ...sources, ...violating });
    expect(all.filter((each) => !found.includes(each))).toEqual([
      "features/violating/service.ts: verb",
    ]);
  });
});
