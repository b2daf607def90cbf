import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Parsed } from "../../support/client.ts";
import { Attempt } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import { CONNECTION, join, newDeployment } from "../../support/world.ts";

const shop = useShop();

async function newStack(name: string, component?: string): Promise<string> {
  const componentId = component && (await newComponent(component));
  const body = { name, ...(componentId && { component_id: componentId }) };
  const { status, body: stack } = await shop.world.client.post(`${shop.environment}/stacks`, body);
  expect(status).toBe(201);
  return stack.id;
}

async function newComponent(name: string): Promise<string> {
  const { body } = await shop.world.client.post(`${shop.environment}/components`, {
    name,
    kind: "service",
  });
  return body.id;
}

async function start(body: object = {}): Promise<{ attempt: Attempt; input: Parsed }> {
  await newDeployment(shop.world.client, shop.environmentId, body);
  const attempt = await Attempt.claim(shop.pool.runner);
  return { attempt, input: (await attempt.post("start")).body.input };
}

describe("the input of a start", () => {
  it("names everything that is deployed, in the order of the deployment", async () => {
    const [api, web] = [await newStack("api", "backend"), await newStack("web")];
    await shop.world.client.put(shop.environment, {
      name: "staging",
      configuration: { replicas: 2 },
    });
    const patch = [{ op: "replace", path: "/replicas", value: 3 }];
    const { input } = await start({ patch, stack_ids: [web, api] });
    expect(input).toMatchObject({
      deployment: { patch },
      project: { id: shop.project.id, name: shop.project.name },
      environment: { id: shop.environmentId, name: "staging" },
      configuration: { replicas: 3 },
      connection: CONNECTION,
    });
    expect(input.stacks).toEqual([
      { id: web, name: "web", outputs: {} },
      { id: api, name: "api", component: { id: expect.any(String), name: "backend" }, outputs: {} },
    ]);
  });

  it.each([
    { provider: "cloudflare", account_id: "023e105f4ecef8ad9ca31a8372d0c353" },
    { provider: "kubernetes", context: "prod" },
    { provider: "kubernetes", context: "arn:aws:eks:eu-central-1:1:cluster/x", namespace: "shop" },
    { provider: "ssh", host: "web-1.example.com", user: "deploy" },
    { provider: "other", name: "The machine in the office" },
  ])("has the connection: %o", async (connection) => {
    const path = `/v1/projects/${shop.project.id}/connection`;
    expect((await shop.world.client.put(path, connection)).body.connection_status).toBe(
      "connected",
    );
    expect((await shop.world.client.get(path)).body).toEqual(connection);
    expect((await start()).input.connection).toEqual(connection);
  });

  it("has the external ID, which owners of the project see, and nobody else", async () => {
    const path = `/v1/projects/${shop.project.id}/connection`;
    const { external_id } = (await shop.world.client.get(path)).body;
    expect((await start()).input.connection).toEqual({ ...CONNECTION, external_id });
    const { client: member, membershipId } = await join(shop.world);
    await shop.world.client.post(`/v1/projects/${shop.project.id}/members`, {
      member_ids: [membershipId],
      role: "contributor",
    });
    expect((await member.get(path)).body).toEqual(CONNECTION);
    await shop.world.client.patch(`/v1/projects/${shop.project.id}/disconnect`);
    expect((await shop.world.client.get(path)).status).toBe(404);
  });

  it("has no connection if the project has none", async () => {
    await shop.world.client.patch(`/v1/projects/${shop.project.id}/disconnect`);
    await shop.world.client.put(`/v1/projects/${shop.project.id}/connection`, CONNECTION);
    expect((await start()).input.connection.external_id).toMatch(/^.{22}$/);
  });
});

describe("the outputs of a stack", () => {
  const shown = async (id: string) =>
    (await shop.world.client.get(`/v1/stacks/${id}`)).body.outputs;
  const report = (attempt: Attempt, id: string, seq: number, status: string, outputs?: object[]) =>
    attempt.report(id, { seq, status, ...(outputs && { outputs }) });
  const url = (value: string) => ({ name: "url", value });

  it("are those of the last success, for people and for the next deployment", async () => {
    const [api, web] = [await newStack("api"), await newStack("web")];
    const first = await start();
    await report(first.attempt, api, 1, "in_progress", [url("https://early.example.com")]);
    expect(await shown(api)).toBeUndefined();
    const outputs = [url("https://api.example.com"), { name: "__proto__", value: "plain" }];
    const reported = await report(first.attempt, api, 2, "succeeded", outputs);
    expect([reported.status, reported.body.warnings]).toEqual([200, undefined]);
    expect(Object.entries(await shown(api))).toEqual([
      ["url", "https://api.example.com"],
      ["__proto__", "plain"],
    ]);
    await report(first.attempt, web, 1, "failed", [url("https://web.example.com")]);
    expect(await shown(web)).toBeUndefined();
    await first.attempt.complete("failed");
    const second = await start();
    expect(second.input.stacks.map((stack: Parsed) => Object.keys(stack.outputs))).toEqual([
      ["url", "__proto__"],
      [],
    ]);
    await report(second.attempt, api, 1, "failed", [url("https://other.example.com")]);
    expect((await shown(api)).url).toBe("https://api.example.com");
    await second.attempt.complete("failed");
    const third = await start();
    await report(third.attempt, api, 1, "succeeded");
    expect(await shown(api)).toBeUndefined();
  });

  it.each([
    "javascript:alert(1)",
    "https://user:password@example.com",
    "ftp://example.com",
    "example.com",
    "",
  ])(
    "lack a url that is no http URL without credentials, which fails nothing: %s",
    async (value) => {
      const api = await newStack("api");
      const { attempt } = await start();
      const outputs = [url(value), { name: "version", value }];
      const { status, body } = await report(attempt, api, 1, "succeeded", outputs);
      expect([status, body.warnings]).toEqual([200, [expect.stringContaining("url was dropped")]]);
      expect(await shown(api)).toEqual({ version: value });
    },
  );

  it("are at most 50, of 2 KiB each", async () => {
    const api = await newStack("api");
    const { attempt } = await start();
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ name: `output-${at}`, value: "v" }));
    for (const outputs of [
      many(LIMITS.stackOutputs.value + 1),
      [{ name: "a", value: "é".repeat(1_025) }],
      [{ name: "a b", value: "v" }],
      [url("https://a.example.com"), url("https://b.example.com")],
    ]) {
      expect((await report(attempt, api, 1, "succeeded", outputs)).status).toBe(400);
    }
    const most = [...many(LIMITS.stackOutputs.value - 1), { name: "a", value: "é".repeat(1_024) }];
    expect((await report(attempt, api, 1, "succeeded", most)).status).toBe(200);
    expect(Object.keys(await shown(api))).toHaveLength(LIMITS.stackOutputs.value);
  });

  it("of an environment are bounded together: the others stay, and the report says so", async () => {
    const names = Array.from({ length: 4 }, (_, at) => `stack-${at}`);
    const ids: string[] = [];
    for (const name of names) ids.push(await newStack(name));
    const large = Array.from({ length: 40 }, (_, at) => ({
      name: `output-${at}`,
      value: "v".repeat(LIMITS.outputBytes.value - 50),
    }));
    const { attempt } = await start();
    const warnings = [];
    for (const id of ids) {
      warnings.push((await report(attempt, id, 1, "succeeded", large)).body.warnings);
    }
    expect(warnings.slice(0, 3)).toEqual([undefined, undefined, undefined]);
    expect(warnings[3]).toEqual([expect.stringContaining("256 KiB")]);
    expect(await shown(String(ids[2]))).toBeDefined();
    expect(await shown(String(ids[3]))).toBeUndefined();
    expect((await attempt.complete("succeeded")).body.status).toBe("succeeded");
  });

  it("replace those of its success before, which take no room beside them", async () => {
    const [api, web] = [await newStack("api"), await newStack("web")];
    const most = (letter: string) =>
      Array.from({ length: LIMITS.stackOutputs.value }, (_, at) => {
        return { name: `output-${at}`, value: letter.repeat(LIMITS.outputBytes.value) };
      });
    const first = await start();
    for (const id of [api, web]) await report(first.attempt, id, 1, "succeeded", most("v"));
    await first.attempt.complete("succeeded");
    const second = await start();
    const { body } = await report(second.attempt, web, 1, "succeeded", most("w"));
    expect(body.warnings).toBeUndefined();
    expect((await shown(web))["output-0"]).toMatch(/^w+$/);
  });
});
