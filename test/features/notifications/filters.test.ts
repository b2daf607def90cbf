import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { batch } from "../../../src/db/batch.ts";
import { openForWriting } from "../../../src/db/client.ts";
import type { EventType } from "../../../src/features/housekeeping/outbox/events.ts";
import { writeOutbox } from "../../../src/features/housekeeping/outbox/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { systemContext } from "../../../src/system-context.ts";
import type { Parsed } from "../../support/client.ts";
import { newIntegration } from "../../support/integrations.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { Attempt } from "../../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newInside,
  newKey,
  newProject,
  newWorld,
  type World,
} from "../../support/world.ts";

const { db } = openForWriting(env.DB);
const deps = { clock: systemClock, log: () => undefined, fetch };
const ctx = systemContext(db, env, { waitUntil: () => undefined }, deps);

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

const KINDS = ["deployments_failed", "services_in_alarm", "changelog", "promotions"];
const newStack = async (environmentId: string): Promise<string> =>
  String((await newInside((await newKey(world)).client, environmentId))["stack_id"]);

describe("the filters of an integration, in the fan-out", () => {
  interface Filter {
    environments: number[] | null;
    stacks: number[] | null;
  }
  interface Happening {
    type: EventType;
    environment: number;
    /** Of a deployment: positions 0 to 29, of which the event names the first 25. */
    stacks: number[];
  }
  const subset = (size: number) => fc.subarray(Array.from({ length: size }, (_, at) => at));
  const filters: fc.Arbitrary<Filter[]> = fc.array(
    fc.record({
      environments: fc.option(subset(3)),
      stacks: fc.option(subset(30)),
    }),
    { minLength: 3, maxLength: 3 },
  );
  const happenings: fc.Arbitrary<Happening> = fc.record({
    type: fc.constantFrom<EventType>(
      "deployments.failed",
      "promotions.created",
      "services.in_alarm",
      "changelog.created",
    ),
    environment: fc.nat(2),
    stacks: subset(30),
  });

  function wants({ environments, stacks }: Filter, event: Happening): boolean {
    if (event.type === "changelog.created") return true;
    if (environments && !environments.includes(event.environment)) return false;
    if (!stacks) return true;
    const concerned = event.type === "services.in_alarm" ? event.stacks.slice(0, 1) : event.stacks;
    return concerned.some((stack) => stacks.includes(stack));
  }

  it("are as the same predicate in TypeScript", async () => {
    const { project, environmentId } = await newDeployableProject(world);
    const environments = [environmentId, newId(systemClock), newId(systemClock)];
    const stacks = Array.from({ length: 30 }, () => newId(systemClock));
    const integrations: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      integrations.push((await newIntegration(world.client, project.id, KINDS)).id);
    }
    const outcomes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(filters, happenings, async (applied, event) => {
        const list = (numbers: number[] | null, ids: string[]) =>
          numbers && JSON.stringify(numbers.map((number) => ids[number]));
        await env.DB.batch(
          applied.map((filter, at) =>
            env.DB.prepare(
              "update integrations set environment_ids = ?2, stack_ids = ?3 where id = ?1",
            ).bind(
              integrations[at],
              list(filter.environments, environments),
              list(filter.stacks, stacks),
            ),
          ),
        );
        const deployment = await newDeployment((await newKey(world)).client, environmentId);
        await env.DB.prepare(
          `insert into deployment_stacks select ?1, value, ?3, ?4, key + 1, 'pending', null, 0, 1, 1, null
             from json_each(?2)`,
        )
          .bind(
            deployment.id,
            JSON.stringify(event.stacks.map((number) => stacks[number])),
            world.id,
            environmentId,
          )
          .run();
        const named = {
          environment: { id: environments[event.environment] },
          ...(event.type === "services.in_alarm"
            ? { stack_id: stacks[event.stacks[0] ?? -1] ?? "none" }
            : { deployment_id: deployment.id }),
        };
        const data = JSON.stringify(event.type === "changelog.created" ? {} : named);
        const found = sql`select 'k' as key, ${project.id} as project_id, ${event.type} as type,
          ${data} as data`;
        const { deliveries } = await batch(db, writeOutbox(ctx, found));
        const { results } = await env.DB.prepare(
          "select integration_id from deliveries where id in (select value from json_each(?))",
        )
          .bind(JSON.stringify(deliveries.map(({ deliveryId }) => deliveryId)))
          .all<{ integration_id: string }>();
        const received = results.map((row) => row.integration_id);
        for (const [at, filter] of applied.entries()) {
          const isExpected = wants(filter, event);
          outcomes.add(`${event.type} ${isExpected}`);
          expect(
            received.includes(String(integrations[at])),
            JSON.stringify({ filter, event }),
          ).toBe(isExpected);
        }
      }),
      {
        numRuns: 40,
        // The last stack is not in the data of the event.
        examples: [
          [
            [
              { environments: null, stacks: [29] },
              { environments: [0], stacks: null },
              { environments: [1], stacks: [] },
            ],
            { type: "deployments.failed", environment: 0, stacks: stacks.map((_, at) => at) },
          ],
        ],
      },
    );
    // Each type but the changelog was both sent and left out.
    expect(outcomes.size).toBe(7);
  });

  it("apply to the events of the API: deployments, alarms, and not to the changelog", async () => {
    const { project, environmentId, pool } = await newDeployableProject(world);
    const { client } = await newKey(world);
    const [mine, other] = [await newStack(environmentId), await newStack(environmentId)];
    const path = `/v1/projects/${project.id}/notification-integrations`;
    const configuration = Object.fromEntries(KINDS.map((kind) => [kind, true]));
    const base = { type: "webhook", configuration, url: "https://hooks.example.com/in" };
    const create = async (fields: object) => {
      const { status, body } = await client.post(path, { ...base, ...fields });
      expect(status).toBe(201);
      return body;
    };
    const all = await create({});
    const ofMine = await create({ stack_ids: [mine], environment_ids: [environmentId] });
    const ofOther = await create({ stack_ids: [other] });
    await newDeployment(client, environmentId, { stack_ids: [mine] });
    await (await Attempt.started(pool.runner)).complete("failed", { failure_reason: "broken" });
    await client.put(`/v1/stacks/${other}/alarms/cpu`, { state: "alarm" });
    const deliveries = await listDeliveries(project.id);
    const typesOf = ({ id }: Parsed) =>
      deliveries.flatMap(({ integration_id, type }) =>
        integration_id === id && type !== "changelog.created" ? [type] : [],
      );
    expect(typesOf(all)).toEqual(["deployments.failed", "services.in_alarm"]);
    expect(typesOf(ofMine)).toEqual(["deployments.failed"]);
    expect(typesOf(ofOther)).toEqual(["services.in_alarm"]);
    for (const { id } of [ofMine, ofOther]) {
      const has = deliveries.some(
        (each) => each.integration_id === id && each.type === "changelog.created",
      );
      expect(has).toBe(true);
    }
  });
});

describe("the filters of an integration, in the API", () => {
  async function newFixture() {
    const { client } = await newKey(world);
    const project = await newProject(client);
    const environmentId: string = project.default_environment_id;
    const stackId = await newStack(environmentId);
    const path = `/v1/projects/${project.id}/notification-integrations`;
    const integration = await newIntegration(client, project.id, KINDS);
    return { client, project, environmentId, stackId, path, one: `${path}/${integration.id}` };
  }

  it("are changed, kept and cleared, in any form of the IDs", async () => {
    const { client, environmentId, stackId, one } = await newFixture();
    expect((await client.get(one)).body).not.toHaveProperty("environment_ids");
    const uuid = toUuid(environmentId);
    const set = await client.patch(one, {
      environment_ids: [uuid, environmentId],
      stack_ids: [stackId],
    });
    expect(set.body).toMatchObject({ environment_ids: [environmentId], stack_ids: [stackId] });
    const kept = await client.patch(one, { configuration: { changelog: false } });
    expect(kept.body).toMatchObject({ environment_ids: [environmentId], stack_ids: [stackId] });
    expect((await client.get(one)).body).toEqual(kept.body);
    const cleared = await client.patch(one, { environment_ids: null, stack_ids: [] });
    expect(cleared.status).toBe(200);
    expect(cleared.body).not.toHaveProperty("environment_ids");
    expect(cleared.body).not.toHaveProperty("stack_ids");
  });

  it("are refused if the project has no such record, and nothing is written", async () => {
    const { client, project, environmentId, stackId, path, one } = await newFixture();
    const foreign = await newProject(client);
    const cases: [object, number, string][] = [
      [{ environment_ids: [newId(systemClock)] }, 404, "environment in the project"],
      [
        { environment_ids: [environmentId, foreign.default_environment_id] },
        404,
        "environment in the project",
      ],
      [{ stack_ids: [stackId, environmentId] }, 404, "stack in the project"],
      [{ environment_ids: ["x"] }, 400, ""],
      [
        {
          stack_ids: Array.from({ length: LIMITS.integrationFilters.value + 1 }, () =>
            newId(systemClock),
          ),
        },
        400,
        "",
      ],
    ];
    for (const [fields, status, message] of cases) {
      const body = { type: "webhook", configuration: {}, url: "https://hooks.example.com/in" };
      const created = await client.post(path, { ...body, ...fields });
      expect([created.status, created.text]).toEqual([status, expect.stringContaining(message)]);
      const changed = await client.patch(one, { ...fields, configuration: { promotions: false } });
      expect([changed.status, changed.text]).toEqual([status, expect.stringContaining(message)]);
    }
    expect((await client.get(path)).body.data).toHaveLength(1);
    expect((await client.get(one)).body.configuration.promotions).toBe(true);
    expect(project.id).not.toBe(foreign.id);
  });

  it("lose deleted records, and then send nothing instead of everything", async () => {
    const { client, project, path, environmentId } = await newFixture();
    const { body: staging } = await client.post(`/v1/projects/${project.id}/environments`, {
      name: "staging",
    });
    const { body: filtered } = await client.post(path, {
      type: "webhook",
      configuration: { services_in_alarm: true },
      url: "https://hooks.example.com/in",
      environment_ids: [staging.id],
    });
    const one = `${path}/${filtered.id}`;
    expect((await client.delete(`/v1/environments/${staging.id}`)).status).toBe(204);
    expect((await client.get(one)).body.environment_ids).toEqual([]);
    const kept = await client.patch(one, { configuration: { services_ok: true } });
    expect(kept.body.environment_ids).toEqual([]);
    const alarm = async () =>
      client.put(`/v1/stacks/${await newStack(environmentId)}/alarms/cpu`, { state: "alarm" });
    const received = async () => {
      const deliveries = await listDeliveries(project.id);
      return deliveries.filter(({ integration_id }) => integration_id === filtered.id).length;
    };
    await alarm();
    expect(await received()).toBe(0);
    await client.patch(one, { environment_ids: null });
    await alarm();
    expect(await received()).toBe(1);
  });
});

/** The UUID form of an ID. */
function toUuid(id: string): string {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  const number = [...id].reduce((sum, each) => sum * 58n + BigInt(alphabet.indexOf(each)), 0n);
  const hex = number.toString(16).padStart(32, "0");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
