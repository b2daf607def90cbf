import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { issueRunnerToken } from "../../../src/features/identity/runner-tokens/credentials.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { listAuditLog } from "../../support/audit.ts";
import { newCanarySecret } from "../../support/canary-secrets.ts";
import { Client, type Parsed } from "../../support/client.ts";
import { Attempt, claim } from "../../support/runner.ts";
import { useTimedShop } from "../../support/shop.ts";
import { newInside, newPool } from "../../support/world.ts";

const shop = useTimedShop();
let stackId: string;

beforeEach(async () => {
  stackId = String((await newInside(shop.world.client, shop.environmentId))["stack_id"]);
});

/** Sorted by name, because resources of one report have the same time. */
const resources = async () => {
  const { body } = await shop.world.client.get(`/v1/stacks/${stackId}/resources`);
  return body.data.toSorted((a: Parsed, b: Parsed) => (a.template_id < b.template_id ? -1 : 1));
};
const desired = (reply: { headers: Headers }) => reply.headers.get("deployment-desired");

describe("a report of a stack", () => {
  const bucket = {
    template_id: "Bucket",
    physical_id: "b-1",
    resource_type: "AWS::S3::Bucket",
    status: "CREATE_COMPLETE",
  };

  it("stores the resources, and marks omitted ones as deleted", async () => {
    await shop.deploy();
    const attempt = await Attempt.started(shop.runner);
    const queue = { ...bucket, template_id: "Queue", timestamp: "2026-01-01T00:00:00.000Z" };
    await attempt.report(stackId, { seq: 1, status: "in_progress", resources: [bucket, queue] });
    const before = await resources();
    expect(before.map((each: Parsed) => each.template_id)).toEqual(["Bucket", "Queue"]);
    expect(before[1].timestamp).toBe("2026-01-01T00:00:00.000Z");
    const updated = { ...bucket, status: "UPDATE_FAILED", status_reason: "No quota" };
    await attempt.report(stackId, { seq: 2, status: "failed", resources: [updated] });
    const after = await resources();
    expect(after).toMatchObject([
      { id: before[0].id, status: "UPDATE_FAILED", status_reason: "No quota" },
      { id: before[1].id, status: "DELETE_COMPLETE" },
    ]);
  });

  it("leaves the resources as they are if it does not include them", async () => {
    await shop.deploy();
    const attempt = await Attempt.started(shop.runner);
    const topic = { ...bucket, template_id: "Topic", status: "DELETE_FAILED" };
    await attempt.report(stackId, { seq: 1, status: "in_progress", resources: [bucket, topic] });
    const before = await resources();
    expect(before).toHaveLength(2);
    shop.now += 1_000;
    for (const fields of [{ status: "in_progress" }, { status: "succeeded" }]) {
      const seq = fields.status === "succeeded" ? 3 : 2;
      expect((await attempt.report(stackId, { seq, ...fields })).status).toBe(200);
      expect(await resources()).toEqual(before);
    }
  });

  it("with an empty list marks all resources of its stack as deleted, and of no other", async () => {
    const otherId = String((await newInside(shop.world.client, shop.environmentId))["stack_id"]);
    await shop.deploy();
    const attempt = await Attempt.started(shop.runner);
    const gone = { ...bucket, template_id: "Gone", status: "DELETE_COMPLETE" };
    for (const id of [stackId, otherId]) {
      await attempt.report(id, { seq: 1, status: "in_progress", resources: [bucket, gone] });
    }
    const [, unchanged] = await resources();
    shop.now += 1_000;
    await attempt.report(stackId, { seq: 2, status: "in_progress", resources: [] });
    expect(await resources()).toMatchObject([
      { status: "DELETE_COMPLETE", timestamp: new Date(shop.now).toISOString() },
      unchanged,
    ]);
    const { body } = await shop.world.client.get(`/v1/stacks/${otherId}/resources`);
    expect(body.data.map((each: Parsed) => each.status).toSorted()).toEqual([
      "CREATE_COMPLETE",
      "DELETE_COMPLETE",
    ]);
  });

  it("changes nothing if it is not newer, and is refused after the stack has ended", async () => {
    await shop.deploy();
    const attempt = await Attempt.started(shop.runner);
    const last = { seq: 5, status: "succeeded", resources: [bucket] };
    await attempt.report(stackId, last);
    const before = await resources();
    shop.now += 1_000;
    const replays = [last, { seq: 4, status: "failed", resources: [] }];
    for (const body of replays) expect((await attempt.report(stackId, body)).status).toBe(200);
    expect(await resources()).toEqual(before);
    const newer = await attempt.report(stackId, { seq: 6, status: "failed" });
    expect([newer.status, desired(newer)]).toEqual([409, "continue"]);
  });
});

describe("a completion", () => {
  it("is idempotent, and refuses a different one", async () => {
    const { id } = await shop.deploy();
    const attempt = await Attempt.started(shop.runner);
    const body = { failure_reason: "exit_1", message: "It broke" };
    for (const _ of [1, 2]) expect((await attempt.complete("failed", body)).status).toBe(200);
    expect((await attempt.complete("failed")).status).toBe(409);
    expect((await attempt.complete("succeeded")).status).toBe(409);
    expect((await shop.read(id)).status).toBe("failed");
  });
});

describe("a completion with the outcome succeeded", () => {
  it.each([
    ["all succeeded", ["succeeded", "succeeded"], "succeeded"],
    ["all skipped", ["skipped", "skipped"], "succeeded"],
    ["succeeded or skipped", ["succeeded", "skipped"], "succeeded"],
    ["skipped, except one that failed", ["skipped", "failed"], "failed"],
    ["skipped, except one that is in progress", ["skipped", "in_progress"], "failed"],
    ["succeeded, except one that was never reported", ["succeeded", undefined], "failed"],
    ["succeeded, except one that was canceled", ["succeeded", "canceled"], "failed"],
  ])("of stacks that are %s ends as its stacks allow", async (_, reported, status) => {
    const stackIds = [
      stackId,
      String((await newInside(shop.world.client, shop.environmentId))["stack_id"]),
    ];
    const { id } = await shop.deploy({ stack_ids: stackIds });
    const attempt = await Attempt.started(shop.runner);
    for (const [at, each] of reported.entries()) {
      if (each) await attempt.report(String(stackIds[at]), { seq: 1, status: each });
    }
    expect((await attempt.complete("succeeded")).body.status).toBe(status);
    expect((await shop.read(id)).status).toBe(status);
  });
});

describe("the values of variables", () => {
  it("are delivered while the lease is fresh, and audited", async () => {
    const value = newCanarySecret();
    const path = `/v1/environments/${shop.environmentId}/variables`;
    await shop.world.client.post(path, { name: "SECRET", storage_method: "secret", value });
    await shop.deploy();
    const attempt = await Attempt.claim(shop.runner);
    expect((await attempt.variables()).status).toBe(409);
    await attempt.post("start");
    const reply = await attempt.variables();
    expect(reply.headers.get("cache-control")).toContain("no-store");
    const found = reply.body.variables.find((each: Parsed) => each.name === "SECRET");
    expect(found).toMatchObject({ storage_method: "secret", value });
    const [entry, ...others] = await listAuditLog(
      shop.world,
      `&target=${attempt.claimed.attempt_id}`,
    );
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      action: "variables.delivered",
      outcome: "success",
      actor: {
        ...{ type: "runner_token", credential_id: shop.pool.tokenId, pool_id: shop.pool.id },
        name: expect.stringMatching(/^n-/),
      },
      target: { type: "attempt", id: attempt.claimed.attempt_id },
      request_id: reply.headers.get("x-request-id"),
    });
    expect(entry?.actor.created_by.membership_id).toBe(shop.world.membershipId);
  });

  it("name their environment and component, beside the component of each stack of the deployment", async () => {
    const path = `/v1/environments/${shop.environmentId}`;
    const post = async (rest: string, body: object) =>
      (await shop.world.client.post(rest, body)).body;
    const variable = (name: string, value: string) => ({ name, storage_method: "secret", value });
    const api = (await post(`${path}/components`, { name: "api", kind: "service" })).id;
    const jobs = (await post(`${path}/components`, { name: "jobs", kind: "worker" })).id;
    await post(`${path}/variables`, variable("WHO", "environment"));
    await post(`/v1/components/${api}/variables`, variable("WHO", "api"));
    await post(`/v1/components/${jobs}/variables`, variable("WHO", "jobs"));
    const stackOf = async (name: string, component_id?: string) =>
      (await post(`${path}/stacks`, { name, component_id })).id;
    const [first, second] = [await stackOf("first", jobs), await stackOf("second", api)];
    await stackOf("of-no-deployment", api);
    await shop.deploy({ stack_ids: [second, stackId, first] });
    const { body } = await (await Attempt.started(shop.runner)).variables();
    const named = body.variables.filter(({ name }: Parsed) => name === "WHO");
    const scopes = named.map(({ environment_id, component_id, value }: Parsed) => [
      value,
      environment_id,
      component_id,
    ]);
    expect(scopes.toSorted()).toEqual([
      ["api", shop.environmentId, api],
      ["environment", shop.environmentId, undefined],
      ["jobs", shop.environmentId, jobs],
    ]);
    expect(body.stacks).toEqual([
      { stack_id: second, component_id: api },
      { stack_id: stackId },
      { stack_id: first, component_id: jobs },
    ]);
  });
});

describe("a runner token", () => {
  it("is refused with the directive stop once it is revoked", async () => {
    expect((await claim(shop.runner)).status).toBe(204);
    const path = `/v1/orgs/${shop.world.id}/runner-pools/${shop.pool.id}/tokens/${shop.pool.tokenId}`;
    expect((await shop.world.client.delete(path)).status).toBe(204);
    const reply = await claim(shop.runner);
    expect([reply.status, desired(reply)]).toEqual([401, "stop"]);
  });

  it("is requested with the same message for every invalid credential", async () => {
    const { runner: revoked, id, tokenId } = await newPool(shop.world, [shop.environmentId]);
    await shop.world.client.delete(
      `/v1/orgs/${shop.world.id}/runner-pools/${id}/tokens/${tokenId}`,
    );
    const unknown = (await issueRunnerToken(newId(systemClock))).key;
    const sent = [
      undefined,
      "",
      "lsr_",
      `${shop.runner.key}x`,
      unknown,
      revoked.key,
      shop.world.client.key,
    ];
    const replies = await Promise.all(sent.map((key) => claim(new Client(key))));
    const message =
      "Send a valid runner token (lsr_…) in the x-api-key header: an API key does not open this. " +
      "POST /v1/orgs/{org_id}/runner-pools/{pool_id}/tokens makes one.";
    const asked = { status: 401, body: { code: "unauthenticated", message } };
    expect(replies.map(({ status, body }) => ({ status, body }))).toEqual(sent.map(() => asked));
  });

  it("of the wrong kind is refused without a query", async () => {
    shop.worker.forget();
    expect((await shop.runner.get("/v1/projects")).status).toBe(401);
    expect((await claim(shop.world.client)).status).toBe(401);
    expect(shop.worker.exchanges).toEqual([]);
  });
});

describe("each call of a runner", () => {
  it("is one batch once the token is cached", async () => {
    const many = Array.from({ length: 500 }, (_, at) => ({
      template_id: `R${at}`,
      physical_id: `p-${at}`,
      resource_type: "AWS::SQS::Queue",
      status: "CREATE_COMPLETE",
    }));
    await claim(shop.runner);
    await shop.deploy();
    const costs: Record<string, number[]> = {};
    const measure = async <Result>(name: string, call: () => Promise<Result>) => {
      shop.worker.forget();
      const result = await call();
      costs[name] = shop.worker.database.map(({ statements }) => statements.length);
      return result;
    };
    const attempt = await measure("claim", () => Attempt.claim(shop.runner));
    await measure("start", () => attempt.post("start"));
    await measure("heartbeat", () => attempt.post("heartbeat"));
    await measure("variables", () => attempt.variables());
    await measure("report", () =>
      attempt.report(stackId, { seq: 1, status: "succeeded", resources: many }),
    );
    await measure("complete", () => attempt.complete("succeeded"));
    expect(costs).toEqual({
      claim: [14],
      start: [12],
      heartbeat: [2],
      variables: [4],
      report: [8],
      complete: [10],
    });
    expect((await shop.read(attempt.deploymentId)).status).toBe("succeeded");
  });

  it("reads no stacks of the deployments that are queued", async () => {
    await env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
       insert into stacks (id, organization_id, project_id, environment_id, name, created_at,
         updated_at)
       select substr(?1, 1, 19) || replace(100 + i, '0', 'z'), ?2, ?3, ?1, 's' || i, 1, 1 from n`,
    )
      .bind(shop.environmentId, shop.world.id, shop.project.id)
      .run();
    const others = 5;
    for (let at = 0; at <= others; at += 1) await shop.deploy({ queue: "fifo" });
    shop.worker.forget();
    await Attempt.claim(shop.runner);
    const rowsRead = shop.worker.database.at(-1)?.rowsRead;
    expect(rowsRead).toBeGreaterThan(100);
    expect(rowsRead).toBeLessThan(100 * others);
  });
});
