import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { unitsOf } from "../../src/lib/database-units.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { Instrumented } from "../support/instruments.ts";
import { copyRow, newIdsOf } from "../support/long-lists.ts";
import { Attempt } from "../support/runner.ts";
import {
  connect,
  newDeployment,
  newInside,
  newPool,
  newProject,
  newWorld,
} from "../support/world.ts";

const LIVE = LIMITS.reportedResources.value;
const DELETED = LIMITS.deletedResources.value;
const WEEK_MS = LIMITS.deletedResourceMs.value;
/** Of a batch of D1: 50 ms. */
const MOST_UNITS = 50_000;

interface Reported {
  template_id: string;
  physical_id: string;
  resource_type: string;
  status: string;
  status_reason?: string;
  timestamp?: string | number;
}

const named = (prefix: string, count: number, fields: Partial<Reported> = {}): Reported[] =>
  Array.from({ length: count }, (_, at) => ({
    template_id: `${prefix}${at}`,
    physical_id: "p",
    resource_type: "AWS::S3::Bucket",
    status: "CREATE_COMPLETE",
    ...fields,
  }));

let now: number;
let worker: Instrumented;

const newIsolate = () => new Instrumented({ clock: { now: () => now } });

beforeEach(() => {
  now = Date.now();
  worker = newIsolate();
});

/** A stack whose deployment is running, and how to report it. */
async function newStack() {
  const world = await newWorld();
  const project = await newProject(world.client);
  const { default_environment_id: environmentId } = project;
  const stackId = String((await newInside(world.client, environmentId))["stack_id"]);
  await connect(world.client, project.id);
  const pool = await newPool(world, [environmentId]);
  await newDeployment(world.client, environmentId, {});
  const attempt = await Attempt.started(pool.runner.via((request) => worker.fetch(request)));
  let seq = 0;
  let warnings: string[] | undefined;
  /** Returns what the batch of the report has read and written. */
  const send = async (resources?: readonly Reported[], field = "resources") => {
    // In the isolate of the last report, the organization would wait for what that has cost.
    worker = newIsolate();
    const body = { seq, status: "in_progress", ...(resources && { [field]: resources }) };
    const reply = await attempt.report(stackId, body);
    expect(reply.status).toBe(200);
    warnings = reply.body.warnings;
    const batch = worker.database.at(-1);
    return { rows_read: Number(batch?.rowsRead), rows_written: Number(batch?.rowsWritten) };
  };
  const report = (resources?: readonly Reported[]) => {
    seq += 1;
    return send(resources);
  };
  const reportChanged = (resources: readonly Reported[]) => {
    seq += 1;
    return send(resources, "changed_resources");
  };
  return {
    organizationId: world.id,
    client: world.client,
    stackId,
    report,
    reportChanged,
    attempt,
    warnings: () => warnings,
    /** Has the number of the last report. */
    repeat: send,
  };
}

type Stack = Awaited<ReturnType<typeof newStack>>;

interface Row extends Reported {
  updated_at: number;
}

async function rowsOf({ stackId }: Stack): Promise<Row[]> {
  const { results } = await env.DB.prepare(
    "select * from resources where stack_id = ? order by created_at, id",
  )
    .bind(stackId)
    .all<Row>();
  return results;
}

const namesOf = (rows: readonly Reported[]) => rows.map((row) => row.template_id).toSorted();
const isDeleted = ({ status }: Reported) => status === "DELETE_COMPLETE";

/** Rows that no report has written. */
async function insertDeleted({ stackId }: Stack, count: number, time = now): Promise<void> {
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
     insert into resources select substr(id, 1, 16) || replace(printf('%06d', i), '0', 'z'), organization_id, project_id,
       environment_id, id, 'old' || i, 'p', 't', 'DELETE_COMPLETE', null, 0, ?3, ?3
     from n join stacks on stacks.id = ?1`,
  )
    .bind(stackId, count, time)
    .run();
}

describe("the resources of a stack", () => {
  it("are at most 500 live and the 500 that were deleted last, whatever is reported", async () => {
    const [stack, other] = [await newStack(), await newStack()];
    await other.report(named("a", LIVE));
    await other.report(named("b", LIVE));
    const before = await rowsOf(other);
    expect(before).toHaveLength(LIVE + DELETED);
    for (const prefix of ["a", "b", "c", "d"]) {
      now += 1_000;
      await stack.report(named(prefix, LIVE));
      expect((await rowsOf(stack)).filter((row) => !isDeleted(row))).toHaveLength(LIVE);
    }
    const rows = await rowsOf(stack);
    expect(namesOf(rows)).toEqual(namesOf([...named("c", DELETED), ...named("d", LIVE)]));
    expect(await rowsOf(other)).toEqual(before);
  });

  it("lose the one that was deleted first when there are more than 500 deleted ones", async () => {
    const stack = await newStack();
    const [first, second, third] = named("live", 3);
    if (!first || !second || !third) throw new Error("There are three");
    await stack.report([first, second, third]);
    now += 1;
    await stack.report([second, third, ...named("a", DELETED - 2)]);
    now += 1;
    await stack.report([second, third]);
    now += 1;
    await stack.report([third]);
    expect((await rowsOf(stack)).filter(isDeleted)).toHaveLength(DELETED);
    now += 1;
    await stack.report([]);
    const left = await rowsOf(stack);
    expect(left).toHaveLength(DELETED);
    expect(namesOf(left)).toEqual(namesOf([...named("a", DELETED - 2), second, third]));
  });

  it("keep those that a report has as deleted, and the others up to 500", async () => {
    const stack = await newStack();
    await stack.report(named("a", LIVE));
    now += 1;
    const deleted = named("b", DELETED - 1, { status: "DELETE_COMPLETE" });
    await stack.report(deleted);
    const rows = await rowsOf(stack);
    expect(rows).toHaveLength(DELETED);
    expect(rows.every(isDeleted)).toBe(true);
    expect(namesOf(rows)).toEqual(expect.arrayContaining(namesOf(deleted)));
    expect((await stack.report(deleted)).rows_written).toBe((await stack.report()).rows_written);
  });

  it("leave with a report 7 days after they were deleted, and no sooner", async () => {
    const [stack, other] = [await newStack(), await newStack()];
    for (const each of [stack, other]) await insertDeleted(each, 2, now - WEEK_MS + 1);
    await stack.report(named("live", 1));
    expect(await rowsOf(stack)).toHaveLength(3);
    now += 1;
    await stack.report(named("live", 1));
    expect(namesOf(await rowsOf(stack))).toEqual(["live0"]);
    expect(await rowsOf(other)).toHaveLength(2);
  });

  it("leave by the schedule 7 days after they were deleted, at most 5,000 in a run", async () => {
    await worker.sweep();
    const [stack, other] = [await newStack(), await newStack()];
    await stack.report(named("live", 2));
    await insertDeleted(stack, LIMITS.sweepResources.value + 1, now - WEEK_MS);
    await insertDeleted(other, 2, now - WEEK_MS + 1);
    await worker.sweep();
    expect((await rowsOf(stack)).filter(isDeleted)).toHaveLength(1);
    await worker.sweep();
    expect(namesOf(await rowsOf(stack))).toEqual(["live0", "live1"]);
    expect(await rowsOf(other)).toHaveLength(2);
    now += 1;
    await worker.sweep();
    expect(await rowsOf(other)).toEqual([]);
  });

  it("beyond the limits are readable, and fewer with each report, which reads few", async () => {
    const stack = await newStack();
    const path = `/v1/stacks/${stack.stackId}/resources`;
    await stack.report(named("live", LIVE));
    await insertDeleted(stack, 10_000);
    expect((await stack.client.get(`${path}?limit=240`)).body.data).toHaveLength(240);
    const { rows_read } = await stack.report(named("live", LIVE));
    expect(rows_read).toBeLessThan(10_000);
    expect(await rowsOf(stack)).toHaveLength(10_000);
    now += 1;
    const cost = await stack.report(named("new", LIVE));
    expect(unitsOf(cost)).toBeLessThanOrEqual(MOST_UNITS);
    const rows = await rowsOf(stack);
    expect(rows.length).toBeLessThanOrEqual(10_000);
    expect(namesOf(rows.filter((row) => !isDeleted(row)))).toEqual(namesOf(named("new", LIVE)));
  });
});

describe("the bytes of resources", () => {
  const count = async (sql: string, organizationId: string) =>
    Number(
      await env.DB.prepare(`select ${sql} as n from stacks where organization_id = ?`)
        .bind(organizationId)
        .first<number>("n"),
    );

  it("are counted in turns over the organizations, however many stacks of one have waited longer", async () => {
    await worker.sweep();
    const [busy, other] = [await newStack(), await newStack()];
    const changed = newIdsOf(LIMITS.sweepStacks.value + 50);
    await copyRow(busy.organizationId, "stacks", busy.stackId, changed, {
      name: "item.value",
      resources_changed_at: "1",
    });
    now += 1_000;
    await other.report(named("a", 2));
    const waiting = "sum(resources_changed_at is not null)";
    const before = await count(waiting, busy.organizationId);
    await worker.sweep();
    expect(await count("sum(resource_bytes)", other.organizationId)).toBeGreaterThan(100);
    expect(await count(waiting, other.organizationId)).toBe(0);
    const counted = before - (await count(waiting, busy.organizationId));
    expect(counted).toBeGreaterThan(100);
    expect(counted).toBeLessThanOrEqual(LIMITS.sweepStacks.value);
    await worker.sweep();
    expect(await count(waiting, busy.organizationId)).toBe(0);
  });
});

describe("a report of changed resources", () => {
  it("writes those that differ, and leaves the others as they are", async () => {
    const stack = await newStack();
    await stack.report(named("a", 3));
    const before = await rowsOf(stack);
    now += 1_000;
    const nothing = await stack.report();
    expect((await stack.reportChanged(named("a", 2))).rows_written).toBe(nothing.rows_written);
    expect(await rowsOf(stack)).toEqual(before);
    await stack.reportChanged([...named("a", 1, { status: "UPDATE_COMPLETE" }), ...named("b", 1)]);
    const rows = await rowsOf(stack);
    expect(rows.map(({ template_id, status }) => `${template_id}: ${status}`).toSorted()).toEqual([
      ...["a0: UPDATE_COMPLETE", "a1: CREATE_COMPLETE", "a2: CREATE_COMPLETE"],
      "b0: CREATE_COMPLETE",
    ]);
    const untouched = before.filter(({ template_id }) => template_id !== "a0");
    expect(rows).toEqual(expect.arrayContaining(untouched));
    await stack.reportChanged([]);
    expect(await rowsOf(stack)).toHaveLength(4);
    await stack.repeat(named("z", 1), "changed_resources");
    expect(await rowsOf(stack)).toHaveLength(4);
  });

  it("is not stored, and says so, if the stack would have more than 500 live ones", async () => {
    const stack = await newStack();
    await stack.report(named("a", LIVE - 1));
    await insertDeleted(stack, DELETED);
    const before = await rowsOf(stack);
    await stack.reportChanged([...named("b", 2), ...named("c", 2, { status: "DELETE_COMPLETE" })]);
    expect(stack.warnings()).toEqual([
      "The resources were not stored: a stack has at most 500 that are not deleted.",
    ]);
    expect(await rowsOf(stack)).toEqual(before);
    const gone = named("a", 1, { status: "DELETE_COMPLETE" });
    await stack.reportChanged([...gone, ...named("b", 2)]);
    expect(stack.warnings()).toBeUndefined();
    const rows = await rowsOf(stack);
    expect(rows.filter((row) => !isDeleted(row))).toHaveLength(LIVE);
    expect(rows.filter(isDeleted)).toHaveLength(DELETED);
    expect(rows.map(({ template_id }) => template_id)).toContain("a0");
    await stack.reportChanged(named("b", 2, { status: "UPDATE_COMPLETE" }));
    expect(stack.warnings()).toBeUndefined();
  });

  it("keeps the newest 500 deleted ones", async () => {
    const stack = await newStack();
    await stack.report(named("live", 2));
    for (const prefix of ["a", "b"]) {
      now += 1;
      await stack.reportChanged(named(prefix, DELETED - 1, { status: "DELETE_COMPLETE" }));
    }
    const rows = await rowsOf(stack);
    expect(rows.filter((row) => !isDeleted(row))).toHaveLength(2);
    expect(rows.filter(isDeleted)).toHaveLength(DELETED);
    expect(namesOf(rows)).toEqual(expect.arrayContaining(namesOf(named("b", DELETED - 1))));
  });

  it.each([
    ["change", "a", {}],
    ["are deleted", "a", { status: "DELETE_COMPLETE" }],
    ["are new and deleted", "c", { status: "DELETE_COMPLETE" }],
  ])("of 500 that %s, of 1,000, takes at most 50 ms of D1", async (_, prefix, fields) => {
    const stack = await newStack();
    await stack.report(named("b", LIVE));
    await stack.report(named("a", LIVE));
    now += 1;
    const changed = named(prefix, LIVE, { physical_id: "other", ...fields });
    const cost = await stack.reportChanged(changed);
    expect(stack.warnings()).toBeUndefined();
    expect(cost.rows_written).toBeGreaterThanOrEqual(LIVE);
    expect(unitsOf(cost), JSON.stringify(cost)).toBeLessThanOrEqual(MOST_UNITS);
    expect((await rowsOf(stack)).filter(isDeleted).length).toBeLessThanOrEqual(DELETED);
  });

  it("has not all resources, too", async () => {
    const { attempt, stackId } = await newStack();
    const lists = { resources: [], changed_resources: [] };
    const reply = await attempt.report(stackId, { seq: 1, status: "in_progress", ...lists });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain("Send resources or changed_resources, not both.");
  });
});

describe("a report", () => {
  it("writes only the resources that differ", async () => {
    const stack = await newStack();
    const resources = named("a", LIVE, { status_reason: "x" });
    await stack.report(resources);
    const before = await rowsOf(stack);
    now += 1_000;
    const nothing = await stack.report();
    expect((await stack.report(resources)).rows_written).toBe(nothing.rows_written);
    expect(await rowsOf(stack)).toEqual(before);
    const changes: Partial<Reported>[] = [
      { physical_id: "other" },
      { resource_type: "other" },
      { status: "UPDATE_COMPLETE" },
      { status_reason: "other" },
      { timestamp: "2026-01-01T00:00:00.000Z" },
    ];
    for (const change of changes) {
      now += 1_000;
      const [first, ...others] = resources;
      await stack.report([{ ...first, ...change } as Reported, ...others]);
      const written = (await rowsOf(stack)).filter(({ updated_at }) => updated_at === now);
      expect(namesOf(written), JSON.stringify(change)).toEqual(["a0"]);
      await stack.report(resources);
    }
  });

  it("keeps the time of a resource that has not changed, unless it has another", async () => {
    const stack = await newStack();
    const [resource] = named("a", 1);
    const timestamp = "2026-01-01T00:00:00.000Z";
    await stack.report([{ ...resource, timestamp } as Reported]);
    now += 1_000;
    await stack.report([resource as Reported]);
    expect((await rowsOf(stack))[0]?.timestamp).toBe(Date.parse(timestamp));
    await stack.report([{ ...resource, physical_id: "other" } as Reported]);
    expect((await rowsOf(stack))[0]?.timestamp).toBe(now);
  });

  it.each([
    ["new resources", {}, LIVE + DELETED],
    ["new resources that are deleted", { status: "DELETE_COMPLETE" }, DELETED],
  ])(
    "of 500 %s on a stack with 500 live and 500 deleted ones takes at most 50 ms of D1",
    async (_, fields, rows) => {
      const stack = await newStack();
      await stack.report(named("a", LIVE));
      await stack.report(named("b", LIVE));
      now += 1;
      const cost = await stack.report(named("c", LIVE, fields));
      expect(await rowsOf(stack)).toHaveLength(rows);
      expect(cost.rows_written).toBeGreaterThan(LIVE);
      expect(unitsOf(cost), JSON.stringify(cost)).toBeLessThanOrEqual(MOST_UNITS);
    },
  );

  it("that is too old removes nothing", async () => {
    const stack = await newStack();
    await stack.report(named("a", LIVE));
    await insertDeleted(stack, DELETED + 1, now - WEEK_MS);
    const before = await rowsOf(stack);
    await stack.repeat(named("b", LIVE));
    expect(await rowsOf(stack)).toEqual(before);
  });
});
