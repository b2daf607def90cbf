import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Client } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { reportingDatabase } from "../../support/reporting-database.ts";
import { Attempt } from "../../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newInside,
  newKey,
  newWorld,
  type World,
} from "../../support/world.ts";

const { databaseWarningBytes, databaseFullBytes } = LIMITS;
const FULL = databaseFullBytes.value;
const WARNING = databaseWarningBytes.value;
const HOUR_MS = 3_600_000;

let world: World;
let size: number;
let worker: Instrumented;
let client: Client;

beforeEach(async () => {
  world = await newWorld();
  size = 1;
  worker = new Instrumented({ database: reportingDatabase(() => ({ size_after: size })) });
  client = world.client.via(worker.fetch);
});

const statusOf = async () => {
  const { body: usage } = await client.get(`/v1/orgs/${world.id}/usage`);
  const health = await worker.fetch(new Request("https://longshore.test/health"));
  const { status, database } = await health.json<{ status: string; database: string }>();
  expect([health.status, status]).toEqual([200, "ok"]);
  expect(usage.database).toBe(database);
  return database;
};

describe("the size of the database", () => {
  it("is in the usage of an organization and in the health of the service", async () => {
    const statuses = [];
    for (size of [1, WARNING - 1, WARNING, FULL - 1, FULL, 1]) statuses.push(await statusOf());
    expect(statuses).toEqual(["ok", "ok", "filling", "filling", "full", "ok"]);
  });

  it("is logged once an hour from the warning on, with the largest organizations", async () => {
    const other = await newWorld();
    await env.DB.prepare(
      "insert into history_usage (organization_id, kind, records, bytes) values (?, 'events', 1, 9000000)",
    )
      .bind(other.id)
      .run();
    const sweepAt = async (now: number) => {
      const clock = { now: () => now };
      const sweeping = new Instrumented({
        database: reportingDatabase(() => ({ size_after: size })),
        clock,
      });
      await sweeping.sweep();
      return sweeping.logged.filter(({ event }) => event === "database.filling");
    };
    const hour = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
    size = WARNING - 1;
    expect(await sweepAt(hour)).toEqual([]);
    size = WARNING;
    expect(await sweepAt(hour + 60_000)).toEqual([]);
    const [logged, ...others] = await sweepAt(hour);
    expect(others).toEqual([]);
    expect(logged).toMatchObject({
      level: "error",
      fields: { status: "filling", bytes: WARNING },
    });
    expect(logged?.fields["largest"]).toMatch(new RegExp(`^${other.id}: 9\\d{6}`));
  });
});

describe("a full database", () => {
  it("refuses growth of every organization, and nothing that ends or shrinks something", async () => {
    const { project, environmentId, pool } = await newDeployableProject(world);
    const inside = await newInside(world.client, environmentId);
    const { client: spare, keyId } = await newKey(world);
    await newDeployment(world.client, environmentId);
    const attempt = await Attempt.started(pool.runner);
    const other = (await newWorld()).client.via(worker.fetch);
    const environment = `/v1/environments/${environmentId}`;
    const grow = (of: Client) => of.post("/v1/projects", { name: `p-${crypto.randomUUID()}` });
    const report = (status: string, seq: number) =>
      pool.runner
        .via(worker.fetch)
        .request(
          "PUT",
          `/v1/runner/attempts/${attempt.claimed.attempt_id}/stacks/${inside["stack_id"]}`,
          { seq, status },
          { "lease-token": attempt.claimed.lease_token },
        );
    size = FULL - 1;
    expect((await client.get("/v1/projects")).status).toBe(200);
    expect((await grow(client)).status).toBe(201);
    size = FULL;
    await client.get("/v1/projects");
    for (const of of [client, other]) {
      const refused = await grow(of);
      expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
      expect(refused.body.message).toContain("database of the service is full");
    }
    const paths = [
      `/v1/projects/${project.id}/environments`,
      `${environment}/stacks`,
      `${environment}/components`,
    ];
    for (const path of paths) {
      const { status } = await client.post(path, {
        name: "n",
        ...(path.endsWith("components") && { kind: "service" }),
      });
      expect([path, status]).toEqual([path, 409]);
    }
    expect((await client.post(`${environment}/deployments`, {})).status).toBe(409);
    expect((await report("in_progress", 1)).status).toBe(200);
    const deployment = `/v1/deployments/${attempt.deploymentId}`;
    expect((await client.request("PATCH", `${deployment}/cancel`)).status).toBe(200);
    expect((await report("canceled", 2)).status).toBe(200);
    const variable = `/v1/variables/${inside["variable_id"]}`;
    expect((await client.request("DELETE", variable)).status).toBe(204);
    const key = `/v1/orgs/${world.id}/api-keys/${keyId}`;
    expect((await client.request("DELETE", key)).status).toBeLessThan(300);
    expect((await spare.get("/v1/projects")).status).toBe(401);
    size = 1;
    await client.get("/v1/projects");
    expect((await grow(client)).status).toBe(201);
  });
});

describe("the usage of an organization", () => {
  it("has its history by kind, and the quotas that an operator has set", async () => {
    const other = await newWorld();
    await newDeployableProject(world);
    await env.DB.prepare(
      `insert into quotas (organization_id, kind, allowed)
       values (?1, 'stored_bytes', 5000), (?1, 'history_bytes', 6000), (?1, 'projects', 7)`,
    )
      .bind(world.id)
      .run();
    const later = { now: () => Date.now() + 10 * 60_000 };
    await vi.waitUntil(
      async () => {
        await new Instrumented({ clock: later }).sweep();
        const { body } = await world.client.get(`/v1/orgs/${world.id}/usage`);
        return body.history.by_kind.changelog > 0 && body.history.by_kind.audit_log > 0;
      },
      { interval: 10, timeout: 60_000 },
    );
    const { body } = await world.client.get(`/v1/orgs/${world.id}/usage`);
    const { audit_log, ...shared } = body.history.by_kind;
    const total = Object.values<number>(shared).reduce((sum, bytes) => sum + bytes, 0);
    expect(body.history).toMatchObject({ used: total, allowed: 6_000 });
    expect(audit_log).toBeGreaterThan(0);
    expect(body.bytes.allowed).toBe(5_000);
    expect(body.records.projects.allowed).toBe(7);
    const { body: others } = await other.client.get(`/v1/orgs/${other.id}/usage`);
    expect(others.history.allowed).toBe(LIMITS.historyBytes.value);
    expect(others.records.projects.allowed).toBe(1_000);
  });
});
