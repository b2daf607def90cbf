import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Client, Parsed, Reply } from "../support/client.ts";
import { Attempt } from "../support/runner.ts";
import {
  newDeployableProject,
  newProject,
  newStack,
  newWorld,
  type World,
} from "../support/world.ts";

let world: World;
let project: Parsed;
let environmentId: string;
let path: string;
let runner: Client;
/** By name. The project has the first one. */
let ids: Record<"api" | "infra" | "web", string>;

beforeEach(async () => {
  world = await newWorld();
  const deployable = await newDeployableProject(world);
  ({ project, environmentId } = deployable);
  runner = deployable.pool.runner;
  path = `/v1/environments/${environmentId}`;
  const web = await newStack(world.client, environmentId, "web");
  const api = await newStack(world.client, environmentId, "api");
  ids = { web, api, infra: await newStack(world.client, environmentId, "infra") };
});

const put = (stacks: object, environment = path): Promise<Reply> =>
  world.client.put(environment, { name: "production", configuration: { stacks } });
const order = (stackIds: readonly unknown[], headers: Record<string, string> = {}) =>
  world.client.request("PUT", `${path}/stack-order`, { stack_ids: stackIds }, headers);
const deploy = (body: object = {}): Promise<Reply> =>
  world.client.post(`${path}/deployments`, { queue: "fifo", ...body });
const set = (stack: string, value: unknown) => ({ op: "add", path: `/stacks/${stack}`, value });
const read = async (id: string) => (await world.client.get(`/v1/deployments/${id}`)).body;

/** The names of the stacks of a deployment, in its order. */
function namesOf({ body }: Pick<Reply, "body">): string[] {
  const names = Object.fromEntries(Object.entries(ids).map(([name, id]) => [id, name]));
  return body.stack_ids.map((id: string) => names[id]);
}

/** Deploys stacks until they have succeeded, with these outputs. */
async function succeed(stackIds: readonly string[], outputs: object[] = []): Promise<void> {
  expect((await deploy({ stack_ids: stackIds })).status).toBe(201);
  const attempt = await Attempt.started(runner);
  for (const id of stackIds) await attempt.report(id, { seq: 1, status: "succeeded", outputs });
  await attempt.complete("succeeded");
}

const refusal = (field: string, message: string) => ({
  status: 400,
  body: { code: "bad_input", message: `${field}: ${message}` },
});

describe("the order of stacks", () => {
  it("is that of their creation until somebody sets another one, and new ones come last", async () => {
    expect(namesOf(await deploy())).toEqual(["web", "api", "infra"]);
    const set = await order([ids.infra, ids.web, ids.api]);
    expect([set.status, set.body.id]).toEqual([200, environmentId]);
    expect(set.body).toEqual((await world.client.get(path)).body);
    expect(namesOf(await deploy())).toEqual(["infra", "web", "api"]);
    const id = await newStack(world.client, environmentId, "jobs");
    expect((await deploy()).body.stack_ids.at(-1)).toBe(id);
    const { data } = (await world.client.get(`${path}/stacks`)).body;
    expect(
      Object.fromEntries(data.map((each: Parsed) => [each["name"], each["position"]])),
    ).toEqual({
      ...{ infra: 1, web: 2, api: 3, jobs: undefined },
    });
  });

  it("names each stack of the environment once", async () => {
    const other = await newProject(world.client, { name: "other" });
    const foreign = await newStack(world.client, other.default_environment_id, "foreign");
    expect(await order([ids.web, ids.api])).toMatchObject({ status: 409 });
    expect(await order([ids.web, ids.api, ids.infra, foreign])).toMatchObject({ status: 404 });
    expect(await order([ids.web, ids.api, ids.api])).toMatchObject({ status: 400 });
    expect(await order([])).toMatchObject({ status: 400 });
    const stale = (await world.client.get(path)).headers.get("etag") ?? "";
    expect((await order([ids.infra, ids.web, ids.api], { "if-match": stale })).status).toBe(200);
    expect((await order([ids.api, ids.web, ids.infra], { "if-match": stale })).status).toBe(409);
    expect(namesOf(await deploy())).toEqual(["infra", "web", "api"]);
  });

  it("is in the changelog, and an order that is set again is not", async () => {
    await order([ids.infra, ids.web, ids.api]);
    await order([ids.infra, ids.web, ids.api]);
    const { data } = (await world.client.get(`/v1/projects/${project.id}/changelog`)).body;
    const entries = data.filter((each: Parsed) => each["after"]?.stack_ids);
    expect(entries).toHaveLength(1);
    expect(entries[0].after).toMatchObject({ stacks: 3, stack_ids: [ids.infra, ids.web, ids.api] });
  });
});

describe("what a stack needs", () => {
  it("is deployed before it: a list of needs, and references to outputs", async () => {
    const web = { executor: "any", env: { DEEP: [{ url: "${outputs.api.url}" }] } };
    expect((await put({ web, api: { needs: ["infra"] } })).status).toBe(200);
    expect(namesOf(await deploy())).toEqual(["infra", "api", "web"]);
    expect(namesOf(await deploy({ stack_ids: [ids.web, ids.infra, ids.api] }))).toEqual([
      ...["infra", "api", "web"],
    ]);
    // Stacks that do not need each other keep the order of the request.
    expect((await put({ web: { needs: ["infra"] } })).status).toBe(200);
    const sent = [ids.api, ids.web, ids.infra];
    expect(namesOf(await deploy({ stack_ids: sent }))).toEqual(["api", "infra", "web"]);
    expect(namesOf(await deploy({ stack_ids: [ids.infra, ids.api] }))).toEqual(["infra", "api"]);
  });

  it("is what the patch of a deployment makes it", async () => {
    const patch = [{ op: "add", path: "/stacks", value: { web: { needs: ["infra"] } } }];
    expect(namesOf(await deploy({ patch }))).toEqual(["api", "infra", "web"]);
  });

  it("takes the longest name where names of stacks have dots, and no escaped reference", async () => {
    await world.client.patch(`/v1/stacks/${ids.infra}`, { name: "api.eu" });
    expect((await put({ web: { url: "${outputs.api.eu.url} $${outputs.none.url}" } })).status).toBe(
      200,
    );
    expect(namesOf(await deploy())).toEqual(["api", "infra", "web"]);
    expect(await world.client.delete(`/v1/stacks/${ids.api}`)).toMatchObject({ status: 409 });
    expect(await world.client.delete(`/v1/stacks/${ids.infra}`)).toMatchObject({
      body: { message: expect.stringContaining('need this stack: "web"') },
    });
  });

  it("must exist, where a configuration is replaced and where a deployment patches it", async () => {
    const missing =
      '/stacks/web/needs names "none", but the environment has no such stack. Create the stack first.';
    expect(await put({ web: { needs: ["none"] } })).toMatchObject(
      refusal("configuration", missing),
    );
    const reply = await deploy({
      patch: [{ op: "add", path: "/stacks", value: { web: { needs: ["none"] } } }],
    });
    expect(reply).toMatchObject(refusal("configuration", missing));
    expect(await put({ web: { a: { b: "x ${outputs.none.url}" } } })).toMatchObject({
      body: {
        message: expect.stringMatching(/\/stacks\/web\/a\/b names "\$\{outputs.none.url\}"/),
      },
    });
    expect(await put({ web: { needs: "infra" } })).toMatchObject(
      refusal("configuration", "/stacks/web/needs must be a list of stack names."),
    );
    expect((await put({ web: { needs: ["infra"] } })).status).toBe(200);
  });

  it("is no cycle, also when an environment is created", async () => {
    const cycle =
      'Stacks need each other in a cycle: "web" → "api" → "web". Remove one of these needs.';
    const stacks = { infra: { needs: ["web"] }, web: { needs: ["api"] }, api: { needs: ["web"] } };
    expect(await put(stacks)).toMatchObject(refusal("configuration", cycle));
    expect(await put({ web: { needs: ["web"] } })).toMatchObject({ status: 400 });
    const body = { name: "staging", configuration: { stacks } };
    const created = await world.client.post(`/v1/projects/${project.id}/environments`, body);
    expect(created).toMatchObject(refusal("configuration", cycle));
    const patch = [{ op: "add", path: "/stacks", value: stacks }];
    expect(await deploy({ patch })).toMatchObject(refusal("configuration", cycle));
    const names = Array.from({ length: 1_000 }, (_, at) => `s${at}`);
    const ring = names.map((name, at) => [name, { needs: [names[(at + 1) % names.length]] }]);
    const long = { name: "staging", configuration: { stacks: Object.fromEntries(ring) } };
    const refused = await world.client.post(`/v1/projects/${project.id}/environments`, long);
    expect(refused.body.message).toMatch(/"s0" → "s1" .* "s9" → … → "s0"\. Remove one/);
    // The stacks of a new environment come later than its configuration.
    const later = { name: "staging", configuration: { stacks: { web: { needs: ["infra"] } } } };
    const staging = await world.client.post(`/v1/projects/${project.id}/environments`, later);
    expect(staging.status).toBe(201);
  });

  it("is deployed with it, or has succeeded before", async () => {
    await put({ web: { needs: ["infra"] } });
    const unmet =
      '"web" needs "infra", which has never succeeded in this environment. Add the ID of "infra".';
    expect(await deploy({ stack_ids: [ids.web] })).toMatchObject(refusal("stack_ids", unmet));
    const preview = await world.client.post(`${path}/deployment-preview`, { stack_ids: [ids.web] });
    expect(preview.body.error).toEqual({ code: "bad_input", message: `stack_ids: ${unmet}` });
    await succeed([ids.infra]);
    expect((await deploy({ stack_ids: [ids.web] })).status).toBe(201);
  });

  it("can't be renamed or deleted, but what nothing needs can", async () => {
    await put({ web: { needs: ["infra"] }, api: { url: "${outputs.infra.url}" } });
    const message =
      'Other stacks need this stack: "web", "api". Change what they need in the environment\'s configuration first.';
    const infra = `/v1/stacks/${ids.infra}`;
    for (const reply of [
      await world.client.patch(infra, { name: "other" }),
      await world.client.put(infra, { name: "other" }),
      await world.client.delete(infra),
    ]) {
      expect(reply).toMatchObject({ status: 409, body: { code: "conflict", message } });
    }
    expect((await world.client.patch(infra, { name: "infra" })).status).toBe(200);
    expect((await world.client.patch(`/v1/stacks/${ids.web}`, { name: "site" })).status).toBe(200);
    await put({});
    expect((await world.client.patch(infra, { name: "other" })).status).toBe(200);
    expect((await world.client.delete(infra)).status).toBe(204);
  });
});

describe("a deployment whose configuration has changed before its start", () => {
  it("has its stacks in the order of the needs that it has by then", async () => {
    const { body } = await deploy({ patch: [{ op: "add", path: "/replicas", value: 3 }] });
    expect(namesOf({ body })).toEqual(["web", "api", "infra"]);
    await put({ web: { needs: ["infra"] } });
    const attempt = await Attempt.claim(runner);
    const started = await attempt.post("start");
    expect(started.status).toBe(200);
    expect(started.body.input.stacks.map(({ name }: Parsed) => name)).toEqual([
      ...["api", "infra", "web"],
    ]);
    expect(namesOf({ body: await read(body.id) })).toEqual(["api", "infra", "web"]);
    expect(started.body.input.configuration).toMatchObject({ replicas: 3 });
  });

  it("fails with patch_conflict if its patch then makes a cycle", async () => {
    await put({ web: {}, api: {} });
    const { body } = await deploy({ patch: [set("web", { needs: ["api"] })] });
    await put({ web: {}, api: { needs: ["web"] } });
    const attempt = await Attempt.claim(runner);
    expect((await attempt.post("start")).status).toBe(409);
    expect(await read(body.id)).toMatchObject({
      status: "failed",
      failure_reason: "patch_conflict",
      message: expect.stringContaining("in a cycle"),
    });
  });

  it("fails with patch_conflict if a stack that it needs is gone, and starts otherwise", async () => {
    await succeed([ids.infra]);
    await put({ web: {} });
    const patch = [set("web", { needs: ["infra"] })];
    const first = await deploy({ patch, stack_ids: [ids.web] });
    const second = await deploy({ stack_ids: [ids.api] });
    expect((await world.client.delete(`/v1/stacks/${ids.infra}`)).status).toBe(204);
    const attempt = await Attempt.claim(runner);
    expect((await attempt.post("start")).status).toBe(409);
    expect(await read(first.body.id)).toMatchObject({ failure_reason: "patch_conflict" });
    expect((await Attempt.started(runner)).deploymentId).toBe(second.body.id);
  });
});

describe("what a runner gets", () => {
  it("is the outputs of a needed stack that is not deployed, and no other ones", async () => {
    await succeed([ids.infra], [{ name: "url", value: "https://infra.example.com" }]);
    await succeed([ids.api], [{ name: "url", value: "https://api.example.com" }]);
    await put({ web: { url: "${outputs.infra.url}" } });
    const { body } = await deploy({ stack_ids: [ids.web], continue_on_failure: true });
    expect(body.continue_on_failure).toBe(true);
    const attempt = await Attempt.claim(runner);
    const { input } = (await attempt.post("start")).body;
    expect(input.needed_stacks).toEqual([
      { id: ids.infra, name: "infra", outputs: { url: "https://infra.example.com" } },
    ]);
    expect(input.deployment.continue_on_failure).toBe(true);
    expect((await attempt.post("start")).body.input).toEqual(input);
  });

  it("has no needed stacks if all of them are deployed", async () => {
    await put({ web: { needs: ["infra"] } });
    await deploy();
    const attempt = await Attempt.claim(runner);
    const { input } = (await attempt.post("start")).body;
    expect(input.needed_stacks).toBeUndefined();
    expect(input.deployment.continue_on_failure).toBe(false);
  });
});

describe("a stack that did not end", () => {
  it("says which other one has failed, and not why", async () => {
    const { body } = await deploy();
    const attempt = await Attempt.started(runner);
    await attempt.report(ids.web, { seq: 1, status: "failed", status_reason: "The disk is full." });
    await attempt.report(ids.api, { seq: 1, status: "in_progress" });
    const message = "The disk is full.";
    await attempt.complete("failed", { failure_reason: "stack_failed", message });
    const { stacks } = (await read(body.id)).data;
    expect(stacks.map(({ status, status_reason }: Parsed) => [status, status_reason])).toEqual([
      ["failed", "The disk is full."],
      ["failed", 'Did not finish because "web" failed.'],
      ["skipped", 'Not started because "web" failed.'],
    ]);
  });

  it("has the reason of the deployment if no stack has failed", async () => {
    const { body } = await deploy();
    const attempt = await Attempt.started(runner);
    const reason = { failure_reason: "source_refused", message: "The commit is gone." };
    await attempt.complete("failed", reason);
    const { stacks } = (await read(body.id)).data;
    expect(stacks.map(({ status_reason }: Parsed) => status_reason)).toEqual(
      Array.from({ length: 3 }, () => "The commit is gone."),
    );
  });
});

describe("continue_on_failure", () => {
  it("is false by default, and copied by redeploy, rollback and promote", async () => {
    const { id: stagingId } = (
      await world.client.post(`/v1/projects/${project.id}/environments`, { name: "staging" })
    ).body;
    await newStack(world.client, stagingId, "web");
    const { body } = await deploy({ continue_on_failure: true, stack_ids: [ids.web] });
    await (await Attempt.started(runner)).succeed();
    expect((await deploy()).body.continue_on_failure).toBe(false);
    const copies = [
      await world.client.post(`/v1/deployments/${body.id}/redeploy`, undefined),
      await world.client.post(`/v1/deployments/${body.id}/promote`, { environment_id: stagingId }),
    ];
    expect(copies.map((copy) => copy.body.continue_on_failure)).toEqual([true, true]);
    expect((await deploy({ continue_on_failure: "yes" })).status).toBe(400);
  });
});

describe("the references of a preview", () => {
  const notes = ({ body }: Reply) =>
    body.references.map(({ pointer, value, note }: Parsed) => [pointer, value, note]);

  it("have the values that are known, and say why others have none", async () => {
    await succeed([ids.infra], [{ name: "bucket", value: "assets" }]);
    const variable = { name: "TOKEN", value: "t-1", storage_method: "secret" };
    await world.client.post(`${path}/variables`, variable);
    const web = {
      executor: "anything",
      bucket: "s3://${outputs.infra.bucket}/${environment.name}",
      missing: "${outputs.infra.none}",
      image: "${source.image}",
      token: "${variables.TOKEN}",
      other: "${variables.OTHER}",
    };
    await put({ web, api: { note: "${outputs.infra.bucket}" } });
    const preview = await world.client.post(`${path}/deployment-preview`, {
      stack_ids: [ids.web],
    });
    expect(notes(preview)).toEqual([
      ["/stacks/web/bucket", "assets", undefined],
      ["/stacks/web/bucket", "production", undefined],
      ["/stacks/web/missing", undefined, '"infra" has no such output, and is not deployed.'],
      ["/stacks/web/image", undefined, "The source has no such value."],
      ["/stacks/web/token", undefined, "The runner gets the variable when it starts."],
      ...[
        [
          "/stacks/web/other",
          undefined,
          "Neither the environment nor the stack's component has this variable.",
        ],
      ],
    ]);
    expect(preview.text).not.toContain("t-1");
    const all = await world.client.post(`${path}/deployment-preview`, {});
    expect(notes(all).slice(0, 1)).toEqual([
      ...[
        [
          "/stacks/web/bucket",
          "assets",
          'From the last success of "infra". This deployment runs "infra" again first.',
        ],
      ],
    ]);
    expect(all.body.stack_ids).toEqual(
      [ids.api, ids.infra, ids.web].toSorted((one, other) => {
        const wanted = [ids.infra, ids.web, ids.api];
        return wanted.indexOf(one) - wanted.indexOf(other);
      }),
    );
  });
});

describe("a stack whose name is written in another Unicode form", () => {
  it.each(["NFC", "NFD"])(
    "does not refuse a configuration that leaves it as it was: %s",
    async (form) => {
      const cafe = { ["café".normalize(form)]: { needs: ["none"] } };
      expect((await put(cafe)).status).toBe(200);
      await newStack(world.client, environmentId, "café");
      expect((await put({ ...cafe, web: { replicas: 2 } })).status).toBe(200);
      const changed = { ["café".normalize(form)]: { needs: ["none", "web"] } };
      expect((await put(changed)).status).toBe(400);
    },
  );
});

describe("a rename beside the write of a configuration", () => {
  it("leaves no configuration that needs a stack of no name", async () => {
    for (let round = 0; round < 5; round += 1) {
      const [written, renamed] = await Promise.all([
        put({ web: { needs: ["infra"] } }),
        world.client.patch(`/v1/stacks/${ids.infra}`, { name: "other" }),
      ]);
      expect([written.status, renamed.status].filter((status) => status === 200)).toHaveLength(1);
      await put({});
      await env.DB.prepare("UPDATE stacks SET name = 'infra' WHERE id = ?").bind(ids.infra).run();
    }
  });
});
