import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Parsed, Reply } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { newIntegration } from "../support/integrations.ts";
import { listDeliveries } from "../support/outbox.ts";
import {
  newInside,
  newKey,
  newPool,
  newProject,
  newWorld,
  type Pool,
  type World,
} from "../support/world.ts";

let world: World;
let pool: Pool;
let project: Parsed;
let stack: Parsed;

/** A project with a stack, a runner pool, and an integration that subscribes to alarms. */
async function newAlarmFixture() {
  world = await newWorld();
  project = await newProject(world.client);
  const { stack_id } = await newInside(world.client, project.default_environment_id);
  stack = (await world.client.get(`/v1/stacks/${stack_id}`)).body;
  pool = await newPool(world, [project.default_environment_id]);
  await newIntegration(world.client, project.id, ["services_in_alarm", "services_ok"]);
  return { path: `/v1/stacks/${stack.id}/alarms`, client: (await newKey(world)).client };
}

const eventsOf = async () =>
  (await listDeliveries(project.id)).map(({ type, data }) => ({ type, data }));
const typesOf = async () => (await eventsOf()).map(({ type }) => type);

describe("an alarm", () => {
  it("is created by its first report and changed by the next", async () => {
    const { path, client } = await newAlarmFixture();
    const first = await client.put(`${path}/cpu`, { state: "alarm", reason: "Load of 9." });
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      stack_id: stack.id,
      name: "cpu",
      state: "alarm",
      reason: "Load of 9.",
      changed_at: first.body.created_at,
      created_at: expect.any(String),
      updated_at: first.body.created_at,
    });
    const { body: same } = await client.put(`${path}/cpu`, { state: "alarm", reason: "Of 10." });
    expect(same).toMatchObject({ reason: "Of 10.", changed_at: first.body.changed_at });
    const { body: over } = await client.put(`${path}/cpu`, { state: "ok" });
    expect(over).toEqual({
      stack_id: stack.id,
      name: "cpu",
      state: "ok",
      changed_at: over.updated_at,
      created_at: first.body.created_at,
      updated_at: expect.any(String),
    });
    expect((await client.get(path)).body).toEqual({ data: [over], has_more: false });
  });

  it("sends an event when its state changes, and only then", async () => {
    const { path, client } = await newAlarmFixture();
    const report = (state: string, reason?: string) =>
      client.put(`${path}/cpu`, { state, ...(reason && { reason }) });
    await report("ok");
    expect(await eventsOf()).toEqual([]);
    await report("alarm", "Load of 9.");
    await report("alarm", "Load of 10.");
    const subject = {
      stack_id: stack.id,
      name: "cpu",
      project: { id: project.id, name: project.name },
      environment: { id: project.default_environment_id, name: "production" },
      stack: { id: stack.id, name: stack.name },
    };
    const inAlarm = { ...subject, state: "alarm", reason: "Load of 9." };
    expect(await eventsOf()).toEqual([{ type: "services.in_alarm", data: inAlarm }]);
    await report("ok");
    await report("ok", "Still.");
    const [, over, ...more] = await eventsOf();
    expect(over).toEqual({ type: "services.ok", data: { ...subject, state: "ok" } });
    expect(more).toEqual([]);
  });

  it("sends each event only to the integrations that subscribe to its kind", async () => {
    const { path, client } = await newAlarmFixture();
    const subscribe = async (kinds: string[]) =>
      (await newIntegration(world.client, project.id, kinds)).id;
    const alarms = await subscribe(["services_in_alarm"]);
    const recoveries = await subscribe(["services_ok"]);
    await subscribe(["deployments_failed", "promotions"]);
    await client.put(`${path}/cpu`, { state: "alarm" });
    await client.put(`${path}/cpu`, { state: "ok" });
    const sent = await listDeliveries(project.id);
    const receivers = (type: string) =>
      sent.filter((each) => each.type === type).map((each) => each.integration_id);
    expect(receivers("services.in_alarm")).toHaveLength(2);
    expect(receivers("services.ok")).toHaveLength(2);
    expect(receivers("services.in_alarm")).toContain(alarms);
    expect(receivers("services.ok")).toContain(recoveries);
    expect(sent).toHaveLength(4);
  });

  it("sends an event for a first report of the state alarm, independently of other alarms of the stack", async () => {
    const { path, client } = await newAlarmFixture();
    await client.put(`${path}/cpu`, { state: "alarm" });
    await client.put(`${path}/memory`, { state: "alarm" });
    await client.put(`${path}/memory`, { state: "ok" });
    expect((await typesOf()).toSorted()).toEqual([
      "services.in_alarm",
      "services.in_alarm",
      "services.ok",
    ]);
  });

  it("sends one event for concurrent equal reports by an API key and a runner", async () => {
    const { path, client } = await newAlarmFixture();
    for (const state of ["alarm", "ok"]) {
      const replies = await Promise.all(
        [client, pool.runner, client, pool.runner].map((each) =>
          each.put(`${path}/cpu`, { state }),
        ),
      );
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    }
    expect(await typesOf()).toEqual(["services.in_alarm", "services.ok"]);
    expect((await client.get(path)).body.data).toHaveLength(1);
  });

  it("sends its event in the batch that writes it", async () => {
    const { path, client } = await newAlarmFixture();
    const worker = new Instrumented();
    await client.via(worker.fetch).put(`${path}/cpu`, { state: "alarm" });
    const written = worker.database.filter(({ statements }) =>
      statements.some(({ sql }) => sql.startsWith('insert into "alarms"')),
    );
    expect(written).toHaveLength(1);
    const tables = written[0]?.statements.map(({ sql }) => /^insert into "(\w+)"/.exec(sql)?.[1]);
    expect(tables).toEqual(["limit_checks", "events", "deliveries", "alarms"]);
  });

  it.each(["CPU > 90 %", "a/b?c#d", "Ünïcode 🔑", "x".repeat(100)])(
    "has the name that its path contains: %s",
    async (name) => {
      const { path, client } = await newAlarmFixture();
      const { status, body } = await client.put(`${path}/${encodeURIComponent(name)}`, {
        state: "ok",
      });
      expect([status, body.name]).toEqual([200, name]);
    },
  );

  it.each([
    ["a name of blanks", "%20", { state: "ok" }, "name"],
    ["a name that is too long", "x".repeat(101), { state: "ok" }, "name"],
    ["another state", "cpu", { state: "broken" }, "state"],
    ["a reason that is too long", "cpu", { state: "ok", reason: "x".repeat(1_001) }, "reason"],
  ])("is rejected with %s", async (_, name, body, at) => {
    const { path, client } = await newAlarmFixture();
    const reply = await client.put(`${path}/${name}`, body);
    expect([reply.status, reply.body.cause.issues[0].path]).toEqual([400, at]);
    expect((await client.get(path)).body.data).toEqual([]);
  });

  it("is another one than that of the same name from another source", async () => {
    const { path, client } = await newAlarmFixture();
    await client.put(`${path}/cpu`, { state: "ok" });
    const copy = (id: string, source: string) =>
      env.DB.prepare(
        `insert into alarms select ?1, stack_id, environment_id, ?2, name, organization_id, project_id, 'alarm', reason,
           created_at, changed_at, updated_at from alarms where stack_id = ?3 and source = ''`,
      )
        .bind(id, source, stack.id)
        .run();
    await copy("grafana", "grafana");
    await expect(copy("again", "grafana")).rejects.toThrow("UNIQUE");
    await expect(copy("absent", "")).rejects.toThrow("UNIQUE");
    await client.put(`${path}/cpu`, { state: "alarm" });
    await client.put(`${path}/cpu`, { state: "ok" });
    expect(await typesOf()).toEqual(["services.in_alarm", "services.ok"]);
    const states = (await client.get(path)).body.data.map(({ state }: Parsed) => state);
    expect(states.toSorted()).toEqual(["alarm", "ok"]);
  });

  it.each([
    ["stack", () => `/v1/stacks/${stack.id}`],
    ["environment", () => `/v1/environments/${stack.environment_id}`],
    ["project", () => `/v1/projects/${project.id}`],
  ])("is deleted with its %s", async (_, pathOf) => {
    const { client } = await newAlarmFixture();
    const { body: other } = await client.post(`/v1/projects/${project.id}/environments`, {
      name: "staging",
    });
    stack = (await client.post(`/v1/environments/${other.id}/stacks`, { name: "deleted" })).body;
    const path = `/v1/stacks/${stack.id}/alarms`;
    await client.put(`${path}/cpu`, { state: "alarm" });
    expect((await client.delete(pathOf())).status).toBe(204);
    expect((await client.get(path)).status).toBe(404);
    const remaining = env.DB.prepare("select count(*) as n from alarms where stack_id = ?");
    expect(await remaining.bind(stack.id).first("n")).toBe(0);
  });
});

describe("a runner", () => {
  const expectNoDirective = (reply: Reply) =>
    expect(reply.headers.has("deployment-desired")).toBe(false);

  it("reports the alarms of its pool's environments", async () => {
    const { path, client } = await newAlarmFixture();
    const reply = await pool.runner.put(`${path}/cpu`, { state: "alarm", reason: "Load of 9." });
    expect([reply.status, reply.body.state]).toEqual([200, "alarm"]);
    expect(reply.headers.get("ratelimit-policy")).toBe('"runner";q=1200;w=60');
    expectNoDirective(reply);
    expect((await client.get(path)).body.data).toEqual([reply.body]);
    expect(await typesOf()).toEqual(["services.in_alarm"]);
  });

  it("reports an alarm in two database round trips", async () => {
    const { path } = await newAlarmFixture();
    const worker = new Instrumented();
    const runner = pool.runner.via(worker.fetch);
    await runner.put(`${path}/cpu`, { state: "alarm" });
    worker.forget();
    await runner.put(`${path}/cpu`, { state: "ok" });
    expect(worker.database.map(({ statements }) => statements.length)).toEqual([1, 4]);
  });

  it("does not find stacks outside its pool's environments, or of another organization", async () => {
    const { path } = await newAlarmFixture();
    const staging = await world.client.post(`/v1/projects/${project.id}/environments`, {
      name: "staging",
    });
    const otherPool = await newPool(world, [staging.body.id]);
    const foreign = await newWorld();
    const foreignProject = await newProject(foreign.client);
    const foreignPool = await newPool(foreign, [foreignProject.default_environment_id]);
    const missing = path.replace(stack.id, project.id);
    const replies = [
      await otherPool.runner.put(`${path}/cpu`, { state: "alarm" }),
      await foreignPool.runner.put(`${path}/cpu`, { state: "alarm" }),
      await pool.runner.put(`${missing}/cpu`, { state: "alarm" }),
    ];
    for (const reply of replies) {
      expect([reply.status, reply.text]).toEqual([404, replies[0]?.text]);
      expectNoDirective(reply);
    }
    expect(await eventsOf()).toEqual([]);
  });
});
