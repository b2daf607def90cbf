import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { ServiceContext } from "../../src/context.ts";
import { openForWriting } from "../../src/db/client.ts";
import type { Change } from "../../src/features/housekeeping/changelog/index.ts";
import { components } from "../../src/features/tenancy/component-table.ts";
import { Conflict } from "../../src/lib/errors.ts";
import { write } from "../../src/writes/write.ts";
import { writeBatch } from "../../src/writes/write-batch.ts";

const record = { type: "component", id: "c", name: "api" } as const;
const change: Change<"updated"> = {
  projectId: "p",
  action: "updated",
  record,
  before: { name: "api", kind: "job" },
  after: { name: "api", kind: "job", updated_at: "later" },
};

const guarded = openForWriting(env.DB).db.update(components).set({ name: "other" }).returning();
const otherwise = () => new Conflict("No.");

it("writes nothing for an update that changes no field", async () => {
  const before = { id: "before" };
  // A statement would need the database, which this context does not have.
  const ctx = { actor: {} } as ServiceContext;
  expect(await write(ctx, { guarded, changes: [change], unchanged: before, otherwise })).toBe(
    before,
  );
  expect(await writeBatch(ctx, { guarded, changes: [change], unchanged: before })).toBe(before);
});

const renamed = { ...change, after: { name: "other", kind: "job" } };

/** What does not compile: `npm run check` fails if it does. */
const REFUSED = [
  (ctx: ServiceContext) =>
    // @ts-expect-error An update says what it returns if it changes nothing.
    write(ctx, { guarded, changes: [renamed], otherwise }),
  (ctx: ServiceContext) =>
    // @ts-expect-error A statement that may change no row needs the reason.
    write(ctx, { guarded, changes: [renamed], unchanged: change }),
  (ctx: ServiceContext) =>
    // @ts-expect-error So does one whose row another statement reads.
    write(ctx, { guarded, reads: guarded, changes: [renamed], unchanged: change }),
  (ctx: ServiceContext) =>
    // @ts-expect-error An update says what it returns if it changes nothing, for all results, too.
    writeBatch(ctx, { guarded, changes: [renamed] }),
  (ctx: ServiceContext) =>
    // @ts-expect-error Who has no key acts in an organization that it names.
    write({ ...ctx, actor: { type: "trust" } }, { guarded, otherwise }),
];

it("fails without what its types need", async () => {
  for (const refused of REFUSED)
    await expect(refused({ actor: {} } as ServiceContext)).rejects.toThrow();
});
