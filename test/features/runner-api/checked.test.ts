import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { LOST_AFTER_MS } from "../../../src/features/deployments/deployments/index.ts";
import type { Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { Attempt } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import { newDeployment } from "../../support/world.ts";

const shop = useShop();
let apiId: string;
let adminId: string;
let stackId: string;

beforeEach(async () => {
  apiId = await created(`${shop.environment}/components`, { name: "api", kind: "service" });
  adminId = await created(`${shop.environment}/components`, { name: "admin", kind: "service" });
  stackId = await created(`${shop.environment}/stacks`, { name: "web", component_id: apiId });
});

async function created(path: string, body: object): Promise<string> {
  const reply = await shop.world.client.post(path, body);
  expect(reply.status).toBe(201);
  return reply.body.id;
}

async function started(): Promise<{ attempt: Attempt; input: Parsed }> {
  await newDeployment(shop.world.client, shop.environmentId);
  const attempt = await Attempt.claim(shop.pool.runner);
  const { status, body } = await attempt.post("start");
  expect(status).toBe(200);
  return { attempt, input: body.input };
}

/** Everything that a start has checked, and its runner reads again. */
async function changeAll(): Promise<void> {
  const { client } = shop.world;
  const name = `renamed-${crypto.randomUUID()}`;
  const replies = [
    await client.put(`/v1/stacks/${stackId}`, { name: "migrate", component_id: adminId }),
    await client.put(`/v1/components/${apiId}`, { name, kind: "service" }),
    await client.put(`/v1/projects/${shop.project.id}/connection`, {
      provider: "ssh",
      host: "elsewhere.example.com",
    }),
    await client.put(`/v1/projects/${shop.project.id}`, {
      name,
      default_environment_id: shop.environmentId,
    }),
  ];
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await env.DB.prepare("update environments set name = ?2 where id = ?1")
    .bind(shop.environmentId, name)
    .run();
}

const storedOf = ({ claimed }: Attempt) =>
  env.DB.prepare("select state, checked from attempts where id = ?")
    .bind(claimed.attempt_id)
    .first<{ state: string; checked: string | null }>();

describe("what a start has checked", () => {
  it("is the input of each repeat of the start, whatever has changed since", async () => {
    const { attempt, input } = await started();
    expect(input.stacks).toEqual([
      { id: stackId, name: "web", component: { id: apiId, name: "api" }, outputs: {} },
    ]);
    await changeAll();
    expect((await attempt.post("start")).body.input).toEqual(input);
    await attempt.complete("canceled");
    expect((await started()).input).not.toEqual(input);
  });

  it("decides whose variables each stack gets", async () => {
    const { attempt } = await started();
    await changeAll();
    expect((await attempt.variables()).body.stacks).toEqual([
      { stack_id: stackId, component_id: apiId },
    ]);
    await attempt.complete("canceled");
    const { attempt: next } = await started();
    expect((await next.variables()).body.stacks).toEqual([
      { stack_id: stackId, component_id: adminId },
    ]);
  });

  it("is not stored for an attempt from before the column, which reads what is there now", async () => {
    const { attempt, input } = await started();
    await env.DB.prepare("update attempts set checked = null where id = ?")
      .bind(attempt.claimed.attempt_id)
      .run();
    expect((await attempt.post("start")).body.input).toEqual(input);
    await changeAll();
    const { body } = await attempt.post("start");
    expect(body.input.stacks[0]).toMatchObject({ name: "migrate", component: { id: adminId } });
    expect(body.input.connection).toEqual({ provider: "ssh", host: "elsewhere.example.com" });
    expect((await attempt.variables()).body.stacks).toEqual([
      { stack_id: stackId, component_id: adminId },
    ]);
  });

  it("is stored from the start to the end of the attempt, and no longer", async () => {
    await newDeployment(shop.world.client, shop.environmentId);
    const claimed = await Attempt.claim(shop.pool.runner);
    expect(await storedOf(claimed)).toEqual({ state: "offered", checked: null });
    await claimed.post("start");
    const running = await storedOf(claimed);
    expect([running?.state, running?.checked]).toEqual(["running", expect.stringContaining("web")]);
    await claimed.complete("failed");
    expect(await storedOf(claimed)).toEqual({ state: "ended", checked: null });
    const { attempt: lost } = await started();
    await new Instrumented({ clock: { now: () => Date.now() + 2 * LOST_AFTER_MS } }).sweep();
    expect(await storedOf(lost)).toEqual({ state: "ended", checked: null });
  });
});
