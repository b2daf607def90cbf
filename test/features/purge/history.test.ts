import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import {
  addDelivery,
  addEntries,
  countHistory,
  historyOf,
  idsOf,
  newOwner,
  runStatement,
  setShare,
  sweep,
} from "../../support/history.ts";
import { queryPlans } from "../../support/query-plans.ts";

beforeEach(async () => {
  vi.restoreAllMocks();
  await countHistory();
});

describe("the history of an organization", () => {
  it("beyond its share loses exactly its oldest until it fits; within it, and another's, nothing", async () => {
    const [full, other] = [await newOwner(), await newOwner()];
    const days = Array.from({ length: 40 }, (_, at) => 390 - 9 * at);
    const old = await addEntries(full, days);
    const kept = await addEntries(other, days.slice(0, 10));
    await countHistory();
    const [before, others] = [await historyOf(full.world), await historyOf(other.world)];
    setShare(before);
    await sweep();
    expect(await idsOf("changelog_entries", full.world.id)).toEqual(expect.arrayContaining(old));
    expect(await historyOf(full.world)).toBe(before);
    const share = Math.floor(before / 2);
    expect(others).toBeLessThan(share);
    setShare(share);
    await sweep();
    const after = await historyOf(full.world);
    const left = (await idsOf("changelog_entries", full.world.id)).filter((id) => old.includes(id));
    expect(left).toEqual(old.slice(-left.length));
    expect(after).toBeLessThanOrEqual(share);
    expect(after + (before - after) / (old.length - left.length)).toBeGreaterThan(share);
    expect(await idsOf("changelog_entries", other.world.id)).toEqual(expect.arrayContaining(kept));
    expect(await historyOf(other.world)).toBe(others);
    const { body } = await full.world.client.get(
      `/v1/projects/${full.projectId}/changelog?limit=100`,
    );
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(
      (await idsOf("changelog_entries", full.world.id)).toReversed(),
    );
  });

  it("loses no more than it must of the rows of one second", async () => {
    const owner = await newOwner();
    await countHistory();
    const others = await historyOf(owner.world);
    const ages = Array.from({ length: 10 }, (_, at) => 300 - at / 1_000_000);
    const old = await addEntries(owner, ages);
    await countHistory();
    const before = await historyOf(owner.world);
    const share = before - (3 * (before - others)) / old.length;
    setShare(share);
    await sweep();
    expect(await historyOf(owner.world)).toBe(share);
    expect(await idsOf("changelog_entries", owner.world.id)).toEqual(
      expect.arrayContaining(old.slice(3)),
    );
  });

  it("has the share that an operator has set, and others have their own", async () => {
    const [small, other] = [await newOwner(), await newOwner()];
    const old = await addEntries(small, [9, 8, 7, 6, 5]);
    const kept = await addEntries(other, [9, 8, 7, 6, 5]);
    await countHistory();
    await sweep();
    expect(await idsOf("changelog_entries", small.world.id)).toEqual(expect.arrayContaining(old));
    const share = (await historyOf(small.world)) - 1;
    await runStatement(
      "insert into quotas values (?1, 'history_bytes', ?2)",
      small.world.id,
      share,
    );
    await sweep();
    const left = await idsOf("changelog_entries", small.world.id);
    expect(left).not.toContain(old[0]);
    expect(left).toEqual(expect.arrayContaining(old.slice(1)));
    expect(await historyOf(small.world)).toBeLessThanOrEqual(share);
    expect(await idsOf("changelog_entries", other.world.id)).toEqual(expect.arrayContaining(kept));
  });

  it("loses the oldest of all kinds first, and never a pending delivery or its event", async () => {
    const owner = await newOwner();
    const { world } = owner;
    const pending = await addDelivery(owner, 29, "pending");
    const finished: { event: string; delivery: string }[] = [];
    for (let days = 28; days > 2; days -= 1) finished.push(await addDelivery(owner, days));
    const entries = await addEntries(
      owner,
      Array.from({ length: 26 }, (_, at) => 28.5 - at),
    );
    await countHistory();
    setShare(Math.floor((await historyOf(world)) / 2));
    await sweep();
    expect(await historyOf(world)).toBeLessThanOrEqual(LIMITS.historyBytes.value);
    const [events, deliveries, changes] = await Promise.all(
      ["events", "deliveries", "changelog_entries"].map((table) => idsOf(table, world.id)),
    );
    expect(events).toContain(pending.event);
    expect(deliveries).toContain(pending.delivery);
    const isGone =
      (ids: readonly string[] = []) =>
      (id: string) =>
        !ids.includes(id);
    const gone = [
      ...finished.map(({ event }) => event).filter(isGone(events)),
      ...finished.map(({ delivery }) => delivery).filter(isGone(deliveries)),
      ...entries.filter(isGone(changes)),
    ].toSorted();
    const left = [
      ...finished.flatMap(({ event, delivery }) => [event, delivery]),
      ...entries,
    ].filter((id) => !gone.includes(id));
    expect(gone.length).toBeGreaterThan(20);
    expect(left.length).toBeGreaterThan(20);
    // Rows of different tables with the same time may be apart: a delivery goes before its event.
    expect(String(gone.at(-1)).slice(0, 8) <= String(left.toSorted()[0]).slice(0, 8)).toBe(true);
    const attempts = await env.DB.prepare(
      "select count(*) as n from delivery_attempts where organization_id = ?",
    )
      .bind(world.id)
      .first<number>("n");
    expect(attempts).toBe(deliveries?.length);
    setShare(1);
    await sweep();
    expect(await idsOf("events", world.id, `id <= '${finished.at(-1)?.event}'`)).toEqual([
      pending.event,
    ]);
    expect(await idsOf("deliveries", world.id)).toEqual([pending.delivery]);
    expect(await idsOf("changelog_entries", world.id)).toEqual([]);
    const path = `/v1/projects/${owner.projectId}/notification-integrations/${owner.integrationId}`;
    const { body } = await world.client.get(`${path}/deliveries`);
    expect(body.data).toMatchObject([{ status: "pending" }]);
    for (const list of ["events", "changelog"]) {
      expect((await world.client.get(`/v1/projects/${owner.projectId}/${list}`)).status).toBe(200);
    }
  });

  it("of several organizations goes in turn, whatever one has", async () => {
    vi.spyOn(LIMITS.purgeBatches, "value", "get").mockReturnValue(16);
    const [large, small] = [await newOwner(), await newOwner()];
    await addEntries(
      large,
      Array.from({ length: 20_000 }, (_, at) => 300 - at / 1_000_000),
    );
    const [oldest = ""] = await addEntries(small, [200, 100]);
    await countHistory();
    setShare((await historyOf(small.world)) - 1);
    await sweep();
    expect(await idsOf("changelog_entries", small.world.id)).not.toContain(oldest);
    expect((await idsOf("changelog_entries", large.world.id)).length).toBeGreaterThan(10_000);
    await runStatement("delete from changelog_entries where organization_id = ?", large.world.id);
  });

  it("is counted by the schedule, and less what is deleted", async () => {
    const owner = await newOwner();
    const { id } = owner.world;
    await addDelivery(owner, 3);
    await addEntries(
      owner,
      Array.from({ length: LIMITS.sweepHistory.value + 100 }, (_, at) => 9 - at / 1_000_000),
    );
    await addDelivery(owner, 2, "pending");
    await sweep();
    const counted = async () => {
      const { results } = await env.DB.prepare(
        "select kind, records, bytes from history_usage where organization_id = ? order by kind",
      )
        .bind(id)
        .all();
      return results;
    };
    const bySchedule = await counted();
    await countHistory();
    expect(bySchedule).toEqual(await counted());
    expect(bySchedule.map(({ kind }) => kind)).toEqual([
      ...["audit_log", "changelog", "deliveries", "delivery_attempts", "events"],
    ]);
    await runStatement("delete from changelog_entries where organization_id = ?", id);
    expect(await counted()).toContainEqual({ kind: "changelog", records: 0, bytes: 0 });
    await sweep();
    expect(await counted()).toContainEqual({ kind: "changelog", records: 0, bytes: 0 });
  });

  it("of founded organizations has half of a share together; only one with more than its part loses", async () => {
    const [founder, large, small, other] = await Promise.all([0, 1, 2, 3].map(newOwner));
    if (!founder || !large || !small || !other) throw new Error("It has four organizations");
    const days = (count: number) => Array.from({ length: count }, (_, at) => 300 - at);
    const lost = await addEntries(large, days(80));
    const kept = await addEntries(small, days(20));
    const others = await addEntries(other, days(80));
    await countHistory();
    const [ofLarge, ofSmall] = [await historyOf(large.world), await historyOf(small.world)];
    const share = 2 * (ofLarge + ofSmall) - 40_000;
    setShare(share);
    await sweep();
    expect(await idsOf("changelog_entries", large.world.id)).toEqual(expect.arrayContaining(lost));
    for (const { world } of [large, small]) {
      await runStatement(
        "update organizations set limits_organization_id = ?1 where id = ?2",
        ...[founder.world.id, world.id],
      );
    }
    await sweep();
    const together = (await historyOf(large.world)) + (await historyOf(small.world));
    expect(together).toBeLessThanOrEqual(share / 2);
    expect(together).toBeGreaterThan(share / 2 - 2_000);
    const left = await idsOf("changelog_entries", large.world.id);
    expect(left.filter((id) => lost.includes(id))).toEqual(lost.slice(-left.length + 2));
    for (const [{ world }, all] of [[small, kept] as const, [other, others] as const]) {
      expect(await idsOf("changelog_entries", world.id)).toEqual(expect.arrayContaining(all));
    }
  });

  it("is never read in whole, nor sorted", async () => {
    const owner = await newOwner();
    await addDelivery(owner, 20);
    await addEntries(owner, [30, 10]);
    await countHistory();
    setShare(1);
    const statements = (await sweep()).database.flatMap((exchange) => exchange.statements);
    const rolling = statements.filter(({ sql }) =>
      /"id0"|"may_go"|first\(position\)|as excess/.test(sql),
    );
    expect(rolling.length).toBeGreaterThan(5);
    const different = [...new Map(rolling.map((each) => [each.sql, each])).values()];
    const plans = await queryPlans(different);
    const refused = plans.map((details, at) => {
      const isRandom = different[at]?.sql.includes("random()");
      return details
        .filter((detail) => /^SCAN (?!CONSTANT ROW|each|first|\()|TEMP B-TREE/.test(detail))
        .filter((detail) => !isRandom || !/TEMP B-TREE/.test(detail));
    });
    expect(refused.flat()).toEqual([]);
  });
});
