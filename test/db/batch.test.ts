import { env } from "cloudflare:workers";
import { asc, eq, inArray, sql } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, expectTypeOf, it, vi } from "vitest";
import { after, batch, observe, type Statement, type Statements } from "../../src/db/batch.ts";
import { openForWriting } from "../../src/db/client.ts";
import { insertFrom } from "../../src/db/insert-from.ts";
import { accounts } from "../../src/features/tenancy/member-table.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";

const { db } = openForWriting(env.DB);

/** The nesting of a batch. A list of texts stands for a statement, `null` for no statement. */
interface Shape {
  [name: string]: readonly string[] | null | Shape;
}

const { shape } = fc.letrec<{ shape: Shape; item: Shape[string] }>((tie) => ({
  shape: fc.dictionary(fc.string(), tie("item"), { maxKeys: 4, noNullPrototype: true }),
  item: fc.oneof(
    { maxDepth: 3 },
    fc.array(fc.uuid(), { maxLength: 2 }),
    fc.constant(null),
    tie("shape"),
  ),
}));

function isList(item: Shape[string]): item is readonly string[] {
  return Array.isArray(item);
}

/** The group of the statements that `toStatement` makes of the lists, which it gets in order. */
function groupOf(
  group: Shape,
  toStatement: (texts: readonly string[]) => Statements[string],
): Statements {
  const entries = Object.entries(group).map(([name, item]) => {
    if (item === null) return [name, undefined];
    return [name, isList(item) ? toStatement(item) : groupOf(item, toStatement)];
  });
  return Object.fromEntries(entries);
}

/** The results of a group whose statements return one row, `{ [column]: text }`, for each text. */
function resultsOf(group: Shape, column: string): object {
  const entries = Object.entries(group).map(([name, item]) => {
    if (item === null) return [name, undefined];
    const result = isList(item) ? item.map((text) => ({ [column]: text })) : undefined;
    return [name, result ?? resultsOf(item as Shape, column)];
  });
  return Object.fromEntries(entries);
}

function textsIn(group: Shape): string[] {
  return Object.values(group).flatMap((item) => {
    if (item === null) return [];
    return isList(item) ? item : textsIn(item);
  });
}

function rowOf(id: string) {
  const account = { id, name: id, displayName: id, profile: {}, createdAt: 0, updatedAt: 0 };
  return { ...account, email: id, avatar: null, version: 1 };
}

function insertAccount(id: string) {
  return db.insert(accounts).values(rowOf(id));
}

function findAccounts(ids: readonly string[]) {
  return db
    .select({ id: accounts.id })
    .from(accounts)
    .where(inArray(accounts.id, [...ids]))
    .orderBy(asc(sql`rowid`));
}

function selectTexts(texts: readonly string[]) {
  return db.select({ text: sql<string>`value`.as("text") }).from(jsonEach(texts));
}

function selectDeliveries(ids: readonly string[]) {
  return db.select({ deliveryId: sql<string>`value`.as("delivery_id") }).from(jsonEach(ids));
}

function jsonEach(texts: readonly string[]) {
  return sql`json_each(${JSON.stringify(texts)})`;
}

describe("a batch", () => {
  it("keeps results under the names and in the groups of their statements", async () => {
    const [id, other] = [newId(systemClock), newId(systemClock)];
    const results = await batch(db, {
      created: insertAccount(id).returning({ id: accounts.id }),
      more: {
        created: insertAccount(other).returning({ id: accounts.id, name: accounts.name }),
        deeper: { found: findAccounts([id, other]) },
      },
    });
    expect(results).toStrictEqual({
      created: [{ id }],
      more: {
        created: [{ id: other, name: other }],
        deeper: { found: [{ id }, { id: other }] },
      },
    });
    expectTypeOf(results.more.created).toEqualTypeOf<{ id: string; name: string }[]>();
    expectTypeOf(results.more.deeper.found).toEqualTypeOf<{ id: string }[]>();
  });

  it("keeps results under their names, whatever the nesting", async () => {
    await fc.assert(
      fc.asyncProperty(shape, async (group) => {
        const results = await batch(db, groupOf(group, selectTexts));
        expect(results).toStrictEqual(resultsOf(group, "text"));
      }),
      { numRuns: 50 },
    );
  });

  it("runs the statements in their order, whatever the nesting", async () => {
    await fc.assert(
      fc.asyncProperty(shape, async (group) => {
        const ids: string[] = [];
        const statements = groupOf(group, () => {
          const id = newId(systemClock);
          ids.push(id);
          return insertAccount(id);
        });
        await batch(db, statements);
        expect((await findAccounts(ids)).map(({ id }) => id)).toEqual(ids);
      }),
      { numRuns: 50 },
    );
  });

  it("runs nothing for undefined, and keeps its name", async () => {
    const id = newId(systemClock);
    const results = await batch(db, {
      skipped: undefined,
      created: insertAccount(id).returning({ id: accounts.id }),
      group: { skipped: undefined },
    });
    expect(results).toStrictEqual({
      skipped: undefined,
      created: [{ id }],
      group: { skipped: undefined },
    });
    expectTypeOf(results.skipped).toEqualTypeOf<undefined>();
  });

  it.each([
    ["no names", {}],
    ["an empty group", { group: {} }],
    ["only undefined", { skipped: undefined, group: { skipped: undefined } }],
  ])("of %s does not query the database", async (_, statements) => {
    const queried = vi.spyOn(db, "batch");
    expect(await batch(db, statements)).toStrictEqual(statements);
    expect(queried).not.toHaveBeenCalled();
    queried.mockRestore();
  });

  it("of an empty group and a statement has a result for both", async () => {
    const results = await batch(db, { group: {}, texts: selectTexts(["a"]) });
    expect(results).toStrictEqual({ group: {}, texts: [{ text: "a" }] });
  });

  it("writes nothing if one of its statements fails", async () => {
    const id = newId(systemClock);
    const writing = batch(db, {
      created: insertAccount(id),
      group: { duplicate: insertAccount(id) },
    });
    await expect(writing).rejects.toThrow();
    expect(await findAccounts([id])).toEqual([]);
  });
});

type Enqueue = (deliveries: readonly { deliveryId: string }[]) => void;

const toDelivery = (deliveryId: string) => ({ deliveryId });

describe("a statement after another", () => {
  const newAccount = () => insertAccount(newId(systemClock));
  const rename = (id: string) =>
    db.update(accounts).set({ name: "renamed" }).where(eq(accounts.id, id));
  const insertAfter = (origin: Statement, id: string) =>
    after(origin, (hasChanged) =>
      insertFrom(db, accounts, rowOf(id), sql`where ${hasChanged}`).returning({ id: accounts.id }),
    );

  it("changes rows only if that one has changed one", async () => {
    const [existing, one, other] = [newId(systemClock), newId(systemClock), newId(systemClock)];
    await insertAccount(existing);
    for (const [id, inserted] of [
      [existing, [{ id: one }]],
      ["missing", []],
    ] as const) {
      const origin = rename(id);
      const dependent = insertAfter(origin, id === existing ? one : other);
      expect((await batch(db, { origin, dependent })).dependent).toEqual(inserted);
    }
  });

  it("is refused if there is another between, or none before", async () => {
    const origin = newAccount();
    const dependent = insertAfter(origin, newId(systemClock));
    for (const statements of [
      { origin, between: newAccount(), dependent },
      { dependent, origin },
      { dependent },
    ]) {
      await expect(batch(db, statements)).rejects.toThrow("Another statement is between");
    }
  });

  it("may follow another that depends on the same, or depend on that", async () => {
    const origin = newAccount();
    const first = insertAfter(origin, newId(systemClock));
    const second = insertAfter(origin, newId(systemClock));
    const third = insertAfter(second, newId(systemClock));
    const results = await batch(db, { origin, first, group: { second, third } });
    expect(results.group.third).toHaveLength(1);
  });
});

describe("an observer", () => {
  it("gets the rows of its statements in all groups at once", async () => {
    const enqueue = vi.fn<Enqueue>();
    const observed = (ids: readonly string[]) => observe(selectDeliveries(ids), enqueue);
    const id = newId(systemClock);
    const results = await batch(db, {
      // Without `returning`, the result is an object of D1 instead of rows.
      created: insertAccount(id),
      found: findAccounts([id]),
      deliveries: observed(["one", "two"]),
      group: { none: observed([]), deeper: { deliveries: observed(["three"]) } },
    });
    expect(results.found).toEqual([{ id }]);
    expect(results.group.deeper.deliveries).toEqual([{ deliveryId: "three" }]);
    expect(enqueue.mock.calls).toEqual([[["one", "two", "three"].map(toDelivery)]]);
  });

  it("gets every row once, and is not called without rows", async () => {
    await fc.assert(
      fc.asyncProperty(shape, async (group) => {
        const enqueue = vi.fn<Enqueue>();
        const observed = (ids: readonly string[]) => observe(selectDeliveries(ids), enqueue);
        const results = await batch(db, groupOf(group, observed));
        expect(results).toStrictEqual(resultsOf(group, "deliveryId"));
        const deliveryIds = textsIn(group);
        expect(enqueue.mock.calls).toEqual(
          deliveryIds.length > 0 ? [[deliveryIds.map(toDelivery)]] : [],
        );
      }),
      { numRuns: 50 },
    );
  });

  it("is not called if its statements are not in the batch, or the batch fails", async () => {
    const enqueue = vi.fn<Enqueue>();
    const observed = (ids: readonly string[]) => observe(selectDeliveries(ids), enqueue);
    const id = newId(systemClock);
    await batch(db, { created: insertAccount(id), group: { skipped: undefined } });
    const failed = batch(db, { deliveries: observed(["one"]), duplicate: insertAccount(id) });
    await expect(failed).rejects.toThrow();
    expect(enqueue).not.toHaveBeenCalled();
    await db.delete(accounts).where(eq(accounts.id, id));
  });
});
