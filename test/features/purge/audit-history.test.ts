import { beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import {
  countHistory,
  daysAgo,
  idAt,
  idsOf,
  runStatement,
  setShare,
  sweep,
} from "../../support/history.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newWorld, type World } from "../../support/world.ts";

beforeEach(async () => {
  vi.restoreAllMocks();
  await countHistory();
});

describe("the audit log", () => {
  async function addAudit({ id }: World, count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, at) => idAt(daysAgo(89) + at)).toSorted();
    await runStatement(
      `insert into audit_log (id, organization_id, created_at, action, outcome, actor_type, target_type,
         target_id) select value, ?2, ?3 + key, 'project.deleted', 'success', 'operator', 'project', 'x'
       from json_each(?1)`,
      ...[JSON.stringify(ids), id, daysAgo(89)],
    );
    return ids;
  }

  const isOld = (time: number) => `created_at < ${time}`;

  it("is kept for 90 days, however large it is, and whatever the setting says", async () => {
    const world = await newWorld();
    const recent = await addAudit(world, 600);
    const [old] = [idAt(daysAgo(91))];
    await runStatement(
      `insert into audit_log (id, organization_id, created_at, action, outcome, actor_type, target_type,
         target_id) values (?1, ?2, ?3, 'project.deleted', 'success', 'operator', 'project', 'x')`,
      ...[old, world.id, daysAgo(91)],
    );
    await countHistory();
    setShare(1);
    await sweep();
    const left = () => idsOf("audit_log", world.id, isOld(daysAgo(1)));
    expect(await left()).toEqual([old, ...recent]);
    await new Instrumented({ settings: { RETAIN_AUDIT_DAYS: "30" } }).sweep();
    expect(await left()).toEqual(recent);
  });

  it("loses its oldest entries if it is the largest in a database that is almost full", async () => {
    const [large, small] = [await newWorld(), await newWorld()];
    const ids = await addAudit(large, 1_400);
    const others = await addAudit(small, 700);
    await countHistory();
    let checks = 0;
    vi.spyOn(LIMITS.databaseCriticalBytes, "value", "get").mockImplementation(() => {
      checks += 1;
      return checks < 4 ? 1 : Number.MAX_SAFE_INTEGER;
    });
    const { logged } = await sweep();
    const left = (world: World) => idsOf("audit_log", world.id, isOld(daysAgo(1)));
    expect(await left(large)).toEqual(ids.slice(1_000));
    expect(await left(small)).toEqual(others);
    expect(logged.filter(({ level }) => level === "error")).toMatchObject([
      { event: "purge.audit_log", fields: { organizationId: large.id } },
    ]);
    expect((await sweep()).logged.filter(({ level }) => level === "error")).toEqual([]);
    expect(await left(large)).toEqual(ids.slice(1_000));
  });
});
