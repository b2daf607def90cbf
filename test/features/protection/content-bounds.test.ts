import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { unitsOf } from "../../../src/lib/database-units.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { BUDGETS } from "../../../src/rate-limits/policies.ts";
import { Instrumented } from "../../support/instruments.ts";
import { copyRow, newIdsOf } from "../../support/long-lists.ts";
import { Attempt } from "../../support/runner.ts";
import { newDeployableProject, newDeployment, newStack, newWorld } from "../../support/world.ts";

const QUEUED = LIMITS.unfinishedDeployments.value;
const LARGE = 250_000;
/** Documents of one deployment: its configuration and its environment's. */
const OF_ONE = 2;
/** A batch of D1: 50 ms. */
const MOST_UNITS = 50_000;

/** How many documents each exchange with the database has read. */
function countDocuments() {
  const documents: number[] = [];
  const isLarge = (value: unknown) => typeof value === "string" && value.length >= LARGE;
  const countIn = (value: unknown): number => {
    if (isLarge(value)) return 1;
    if (typeof value !== "object" || value === null) return 0;
    return Object.values(value).reduce<number>((sum, each) => sum + countIn(each), 0);
  };
  const counted = async <Result>(read: Promise<Result>): Promise<Result> => {
    const result = await read;
    documents.push(countIn(result));
    return result;
  };
  const watch = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get(target, name) {
        if (name === "bind") return (...params: unknown[]) => watch(target.bind(...params));
        if (name === "all") return () => counted(target.all());
        if (name === "raw") return () => counted(target.raw());
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (sql: string) => watch(session.prepare(sql)),
      batch: (statements: D1PreparedStatement[]) => counted(session.batch(statements)),
      getBookmark: () => session.getBookmark(),
    };
  };
  return { documents, database: { withSession } as unknown as D1Database };
}

it("rules of the largest size read no document to evaluate, and one deployment's at a time to digest it", async () => {
  const world = await newWorld();
  const { environmentId, pool } = await newDeployableProject(world);
  await newStack(world.client, environmentId, "api");
  const patch = [{ op: "add", path: "/text", value: "x".repeat(LARGE) }];
  const path = `/v1/environments/${environmentId}`;
  const { name } = (await world.client.get(path)).body;
  const configuration = { text: "x".repeat(LARGE) };
  expect((await world.client.put(path, { name, configuration })).status).toBe(200);
  const first = await newDeployment(world.client, environmentId, { patch: patch.slice(1) });
  await (await Attempt.started(pool.runner)).succeed();
  const places = newIdsOf(LIMITS.rulePlaces.value);
  await copyRow(world.id, "environments", environmentId, places, { name: "item.value" });
  for (const id of places)
    await copyRow(world.id, "deployments", first.id, newIdsOf(20), {
      environment_id: `'${id}'`,
      number: "1 + item.key",
      created_at: "source.created_at + item.key",
      finished_at: "source.finished_at + item.key",
    });
  const queued = await newDeployment(world.client, environmentId, { queue: "fifo" });
  await copyRow(world.id, "deployments", queued.id, newIdsOf(QUEUED - 1), {
    number: "source.number + 1 + item.key",
    created_at: "source.created_at + 1 + item.key",
  });
  await env.DB.prepare(
    `insert into deployment_stacks select item.id, source.stack_id, source.organization_id, source.environment_id,
        source.position, source.status, source.status_reason, source.seq, source.timestamp, item.created_at, source.started_at
      from deployments as item join deployment_stacks as source on source.deployment_id = ?1
      where item.environment_id = ?2 and item.status = 'queued' and item.id <> ?1`,
  )
    .bind(queued.id, environmentId)
    .run();

  const except = Array.from({ length: 20 }, (_, at) => `/${"é".repeat(600)}/${at}`);
  const rules = {
    approvals: { required: 1, approvers: { role: "owner" }, prevent_self_approval: false },
    from: { environment_ids: places, same_configuration: { except } },
  };
  const { documents, database } = countDocuments();
  // Ten runs of the schedule within seconds would use the organization's budget of a minute.
  const charged: number[] = [];
  const charge = ({ units }: { units: number }) => Promise.resolve(charged.push(units));
  const organizationLimiters = { getByName: () => ({ charge }) } as never;
  const worker = new Instrumented({ database, organizationLimiters });
  const client = world.client.via(worker.fetch);
  const largest = () =>
    Math.max(
      ...worker.database.map(({ rowsRead = 0, rowsWritten = 0 }) =>
        unitsOf({ rows_read: rowsRead, rows_written: rowsWritten }),
      ),
    );
  expect((await client.put(`${path}/protection`, rules)).status).toBe(200);
  // The environment itself is read to find what the caller may do.
  expect(documents.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(1);
  expect(worker.database.length).toBeLessThan(QUEUED / 2);
  expect(largest()).toBeLessThanOrEqual(MOST_UNITS);

  const missing = () =>
    env.DB.prepare(
      `select count(*) as n from deployments where environment_id = ? and status = 'queued' and resulting is null`,
    )
      .bind(environmentId)
      .first<number>("n");
  for (let sweeps = 0; sweeps < 10 && (await missing()); sweeps += 1) {
    documents.length = 0;
    worker.forget();
    await worker.sweep();
    expect(Math.max(...documents)).toBeLessThanOrEqual(OF_ONE);
    expect(largest()).toBeLessThanOrEqual(MOST_UNITS);
  }
  expect(await missing()).toBe(0);
  const digests = env.DB.prepare(
    "select count(*) as n from configuration_digests where organization_id = ?",
  );
  expect(await digests.bind(world.id).first("n")).toBe(places.length);

  // All is stored: nothing is read again.
  documents.length = 0;
  worker.forget();
  await worker.sweep();
  expect(Math.max(...documents)).toBe(0);
  expect(worker.database.length).toBeLessThan(QUEUED / 2);
  expect(charged.every((units) => units > 0 && units < BUDGETS.caller / 4)).toBe(true);
  expect(charged.length).toBeGreaterThan(0);
  documents.length = 0;
  // The organization may have used its budget of the minute: without its objects, the isolate admits by itself.
  const unreachable = () => Promise.reject(new Error("The object is not reachable"));
  const limiters = { getByName: () => ({ consume: unreachable, isKnown: unreachable }) } as never;
  const reader = world.client.via(new Instrumented({ database, limiters }).fetch);
  const read = await reader.get(`/v1/deployments/${queued.id}`);
  expect(read.body.waiting_for.map(({ code }: { code: string }) => code)).toEqual(["approvals"]);
  expect(Math.max(...documents)).toBe(0);
});
