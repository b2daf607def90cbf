import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Client } from "../../support/client.ts";
import { Attempt, claim } from "../../support/runner.ts";
import { useTimedShop } from "../../support/shop.ts";
import { newToken } from "../../support/world.ts";

const OFFER_MS = 60_000;
const RUN_MS = 90_000;
const TIMED_OUT = { status: "failed", failure_reason: "run_timeout" };
const NOTHING = { data: [], has_more: false };

const shop = useTimedShop();
let pools: string;
let sibling: Client;

beforeEach(async () => {
  pools = `/v1/orgs/${shop.world.id}/runner-pools`;
  const limits = { max_run_seconds: RUN_MS / 1000 };
  const { body } = await shop.world.client.patch(`${pools}/${shop.pool.id}`, limits);
  expect(body).toMatchObject(limits);
  sibling = (await newToken(shop.world, shop.pool)).runner.via(shop.worker.fetch);
});

const statusOf = async (id: string) =>
  (await shop.world.client.get(`/v1/deployments/${id}`)).body.status;
/** From the database, because the API gives the failure reason only in stacks and events. */
const endOf = (id: string) =>
  env.DB.prepare("select status, failure_reason from deployments where id = ?").bind(id).first();
const desired = async (attempt: Attempt) => (await attempt.post("heartbeat")).body.desired;

/** Sends heartbeats for this time, and returns the directives. */
async function beat(attempt: Attempt, milliseconds: number): Promise<string[]> {
  const heard: string[] = [];
  for (let passed = 0; passed < milliseconds; passed += 30_000) {
    shop.now += Math.min(30_000, milliseconds - passed);
    heard.push(await desired(attempt));
  }
  return heard;
}

describe("a deployment that no runner starts", () => {
  it("fails when its fifth offer lapses, and the next one is offered", async () => {
    const { id } = await shop.deploy({ queue: "fifo" });
    const next = await shop.deploy({ queue: "fifo" });
    for (let offers = 1; offers <= 5; offers += 1) {
      expect((await Attempt.claim(shop.runner)).deploymentId).toBe(id);
      shop.now += OFFER_MS;
      await shop.worker.sweep();
      expect(await statusOf(id)).toBe(offers < 5 ? "queued" : "failed");
    }
    expect(await endOf(id)).toEqual({ status: "failed", failure_reason: "never_started" });
    expect((await Attempt.claim(shop.runner)).deploymentId).toBe(next.id);
  });

  it("fails when its 20th offer is released, and the next one is offered", async () => {
    const { id } = await shop.deploy({ queue: "fifo" });
    const next = await shop.deploy({ queue: "fifo" });
    const requestId = crypto.randomUUID();
    const first = new Attempt(shop.runner, (await claim(shop.runner, requestId)).body);
    const repeats = [];
    for (let offers = 1; offers <= 20; offers += 1) {
      const attempt = offers === 1 ? first : await Attempt.claim(shop.runner);
      expect([attempt.deploymentId, attempt.claimed.epoch]).toEqual([id, offers]);
      expect((await attempt.post("release")).status).toBe(200);
      expect((await attempt.post("release")).body.desired).toBe("stop");
      repeats.push((await claim(shop.runner, requestId)).body.attempt_id);
      expect(await statusOf(id)).toBe(offers < 20 ? "queued" : "failed");
    }
    expect(await endOf(id)).toEqual({ status: "failed", failure_reason: "never_started" });
    const left = `select (select count(*) from attempts where deployment_id = ?1) as attempts,
      (select group_concat(status) from deployment_stacks where deployment_id = ?1) as stacks`;
    expect(await env.DB.prepare(left).bind(id).first()).toEqual({
      attempts: 20,
      stacks: "skipped",
    });
    expect(new Set(repeats)).toEqual(new Set([first.claimed.attempt_id]));
    expect((await Attempt.claim(shop.runner)).deploymentId).toBe(next.id);
  });

  it("can start after four lapsed and 19 released offers", async () => {
    const { id } = await shop.deploy({ queue: "fifo" });
    for (let offers = 1; offers <= 4; offers += 1) {
      await Attempt.claim(shop.runner);
      shop.now += OFFER_MS;
    }
    for (let offers = 1; offers <= 19; offers += 1) {
      expect((await (await Attempt.claim(shop.runner)).post("release")).status).toBe(200);
    }
    const attempt = await Attempt.started(shop.runner);
    expect(attempt.deploymentId).toBe(id);
    expect((await attempt.succeed()).status).toBe(200);
  });
});

describe("a run that exceeds the time of its pool", () => {
  it("is told to cancel before any sweep, and not too early", async () => {
    await shop.deploy({ queue: "fifo" });
    const attempt = await Attempt.started(shop.runner);
    expect(await beat(attempt, RUN_MS)).toEqual(["continue", "continue", "cancel"]);
  });

  const OUTCOMES = ["canceled", "failed", "succeeded"];

  it.each(
    OUTCOMES.flatMap((outcome) => [
      [outcome, "before"],
      [outcome, "after"],
    ]),
  )("fails with run_timeout if it completes as %s %s the sweep", async (outcome, when) => {
    const { id } = await shop.deploy({ queue: "fifo" });
    const attempt = await Attempt.started(shop.runner);
    await beat(attempt, RUN_MS);
    if (when === "after") {
      await shop.worker.sweep();
      expect(await statusOf(id)).toBe("canceling");
      expect(await desired(attempt)).toBe("cancel");
    }
    const fields = outcome === "failed" ? { failure_reason: "exit_1" } : {};
    const first = await attempt.complete(outcome, fields);
    expect(first).toMatchObject({ status: 200, body: { desired: "stop", ...TIMED_OUT } });
    expect((await attempt.complete(outcome, fields)).body).toEqual(first.body);
    expect(await endOf(id)).toEqual(TIMED_OUT);
  });

  it.each([
    ["canceled", {}, {}],
    ["failed", { failure_reason: "exit_1" }, { failure_reason: "exit_1" }],
    ["failed", {}, {}],
    ["succeeded", {}, {}],
  ])(
    "ends with the outcome of its runner in its last second: %s",
    async (status, fields, expected) => {
      await shop.deploy({ queue: "fifo" });
      const attempt = await Attempt.started(shop.runner);
      await beat(attempt, RUN_MS - 1_000);
      const completed =
        status === "succeeded" ? attempt.succeed(fields) : attempt.complete(status, fields);
      const { body } = await completed;
      expect(body).toEqual({
        desired: "stop",
        status,
        ...expected,
        start_within_seconds: 60,
        heartbeat_every_seconds: 15,
        lease_seconds: 60,
        log_every_seconds: 1,
        log_chunk_bytes: 262_144,
        log_bytes: 16_777_216,
      });
    },
  );

  it("fails 120 s after the sweep without a completion, and the next one is offered", async () => {
    const { id } = await shop.deploy({ queue: "fifo" });
    const next = await shop.deploy({ queue: "fifo" });
    const attempt = await Attempt.started(shop.runner);
    await beat(attempt, RUN_MS);
    await shop.worker.sweep();
    await beat(attempt, 119_000);
    await shop.worker.sweep();
    expect(await statusOf(id)).toBe("canceling");
    await beat(attempt, 1_000);
    await shop.worker.sweep();
    expect(await endOf(id)).toEqual(TIMED_OUT);
    expect(await attempt.post("heartbeat")).toMatchObject({ status: 409 });
    expect((await Attempt.claim(shop.runner)).deploymentId).toBe(next.id);
  });

  it("ends canceled if a person cancels it first", async () => {
    const { id } = await shop.deploy({ queue: "fifo" });
    const attempt = await Attempt.started(shop.runner);
    await shop.world.client.patch(`/v1/deployments/${id}/cancel`);
    await beat(attempt, RUN_MS);
    expect((await attempt.complete("canceled")).status).toBe(200);
    expect(await endOf(id)).toEqual({ status: "canceled", failure_reason: null });
  });
});

describe("the time of a pool", () => {
  it("is six hours by default, and between a minute and a week", async () => {
    const create = (fields: object) =>
      shop.world.client.post(pools, {
        name: crypto.randomUUID(),
        environment_ids: [shop.environmentId],
        ...fields,
      });
    expect((await create({})).body.max_run_seconds).toBe(6 * 60 * 60);
    for (const max_run_seconds of [60, 604_800]) {
      const { status, body } = await create({ max_run_seconds });
      expect([status, body.max_run_seconds]).toEqual([201, max_run_seconds]);
      expect((await shop.world.client.get(`${pools}/${body.id}`)).body).toEqual(body);
    }
    for (const max_run_seconds of [59, 604_801, 60.5, "60", null]) {
      expect((await create({ max_run_seconds })).status).toBe(400);
    }
  });
});

describe("the list of a runner's attempts", () => {
  const list = async (client: Client) => (await client.get("/v1/runner/attempts")).body;

  it("has the attempts of its token with a valid lease, as their claims gave them", async () => {
    expect(await list(shop.runner)).toEqual(NOTHING);
    await shop.deploy({ queue: "fifo" });
    const attempt = await Attempt.claim(shop.runner);
    expect(await list(shop.runner)).toEqual({ data: [attempt.claimed], has_more: false });
    expect(await list(sibling)).toEqual(NOTHING);
    await attempt.post("start");
    const [running] = (await list(shop.runner)).data;
    expect(running.attempt_id).toBe(attempt.claimed.attempt_id);
    expect(running.deployment.status).toBe("in_progress");
    const recovered = new Attempt(shop.runner, running);
    expect((await recovered.succeed()).status).toBe(200);
    expect(await list(shop.runner)).toEqual(NOTHING);
  });

  it("omits lapsed offers and lost runs before any sweep", async () => {
    await shop.deploy({ queue: "fifo" });
    await Attempt.claim(shop.runner);
    shop.now += OFFER_MS;
    expect(await list(shop.runner)).toEqual(NOTHING);
    await Attempt.started(shop.runner);
    shop.now += 359_000;
    expect((await list(shop.runner)).data).toHaveLength(1);
    shop.now += 1_000;
    expect(await list(shop.runner)).toEqual(NOTHING);
  });
});
