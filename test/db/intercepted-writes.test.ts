import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { batch } from "../../src/db/batch.ts";
import { interceptWrites, openForWriting } from "../../src/db/client.ts";
import { usage } from "../../src/features/housekeeping/usage/table.ts";

const { db } = openForWriting(env.DB);

const rows = () => db.select().from(usage);

describe("a database whose writes are intercepted", () => {
  const intercepted: string[] = [];
  const checked = interceptWrites(db, (statement) => {
    intercepted.push(statement);
    throw new Error("It would write");
  });

  it("reads as the database does, in a batch and outside of one", async () => {
    const read = checked.select().from(usage);
    expect(await read).toEqual(await db.select().from(usage));
    expect(await batch(checked, { read })).toEqual({ read: await read });
    const recursive = sql`with recursive item(updated) as (select 1 union all
      select updated + 1 from item where updated < 3) select count(updated) as found from item`;
    expect(await checked.get(recursive)).toEqual({ found: 3 });
    expect(intercepted).toEqual([]);
  });

  it("runs no statement of a batch that writes, and no other statement that does", async () => {
    const before = await rows();
    const writes = [
      checked.delete(usage),
      checked.update(usage).set({ records: 1 }),
      checked.run(sql`
        with item(id) as (select 'x') insert into usage select id, 'k', 1, 1 from item`),
    ];
    for (const write of writes) await expect(write).rejects.toThrow();
    const statements = { read: checked.select().from(usage), deleted: checked.delete(usage) };
    await expect(batch(checked, statements)).rejects.toThrow("It would write");
    expect(intercepted.map((text) => text.trim().split(" ")[0])).toEqual([
      ...["delete", "update", "with", "delete"],
    ]);
    expect(await rows()).toEqual(before);
  });
});
