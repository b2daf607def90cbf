import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { MAXIMUM_TEXTS } from "../../packages/runner/src/executors/settings.ts";
import { MAXIMUM_ISSUES } from "../../src/lib/errors.ts";
import type { Client, Parsed, Reply } from "../support/client.ts";
import { Attempt } from "../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newStack,
  newWorld,
  type World,
} from "../support/world.ts";

let world: World;
let project: Parsed;
let environmentId: string;
let environment: string;
let runner: Client;

beforeEach(async () => {
  world = await newWorld();
  const deployable = await newDeployableProject(world);
  ({ project, environmentId } = deployable);
  runner = deployable.pool.runner;
  await newStack(world.client, environmentId, "api");
  environment = `/v1/environments/${environmentId}`;
});

const GOOD = { executor: "script", path: "deploy.sh" };
const BAD = { executor: "script", path: 7, colour: "blue" };
const PROBLEMS = [
  "/stacks/api/colour is no setting of the executor script. Remove it. Settings: path, arguments.",
  "/stacks/api/path must be the path of a file in the repository.",
];

/** The executor needs a commit. */
const SOURCE = {
  git: {
    commit: { author: {}, committer: {}, message: "Say hello", sha: "a".repeat(40) },
    ref: "refs/heads/main",
    ...{ provider: "github", owner: "acme", repo: "shop" },
  },
};

const put = (configuration: object) =>
  world.client.put(environment, { name: "production", configuration });
const set = (path: string, value: unknown) => ({ op: "add", path, value });
const deploy = (...patch: object[]) =>
  world.client.post(`${environment}/deployments`, { queue: "fifo", patch, source: SOURCE });
const read = async () => (await world.client.get(environment)).body.configuration;

/** As a release stored it that did not check settings. */
const store = (configuration: object) =>
  env.DB.prepare("UPDATE environments SET configuration = ? WHERE id = ?")
    .bind(JSON.stringify(configuration), environmentId)
    .run();

function expectProblems(reply: Reply, path: string, messages: readonly string[]): void {
  expect(reply).toMatchObject({
    status: 400,
    body: { code: "bad_input", message: `${path}: ${messages[0]}` },
  });
  expect(reply.body.cause.issues).toEqual(messages.map((message) => ({ path, message })));
}

describe("the settings of an executor", () => {
  it("are checked when an environment is created, its configuration is replaced, or a patch changes it", async () => {
    const stacks = { web: GOOD, api: BAD };
    const body = { name: "staging", configuration: { stacks } };
    const created = await world.client.post(`/v1/projects/${project.id}/environments`, body);
    expectProblems(created, "configuration", PROBLEMS);
    expectProblems(await put({ stacks }), "configuration", PROBLEMS);
    expectProblems(await deploy(set("/stacks", stacks)), "patch", PROBLEMS);
    expect(await read()).toEqual({});

    const good = { stacks: { web: GOOD, api: { ...GOOD, arguments: ["--to", "${stack.name}"] } } };
    expect((await put(good)).status).toBe(200);
    expectProblems(await deploy(set("/stacks/api/path", 7)), "patch", PROBLEMS.slice(1));
    expect((await deploy(set("/stacks/api/path", "other.sh"))).status).toBe(201);
  });

  it.each<[string, object, string]>([
    ["a missing one", { executor: "script" }, "/stacks/api/path is missing."],
    ["an unknown reference", { ...GOOD, path: "${env.HOME}" }, '/stacks/api/path refers to "${env'],
    [
      "too many texts",
      { ...GOOD, arguments: Array(MAXIMUM_TEXTS + 1).fill("x") },
      "/stacks/api/arguments must be a list of at most 100 texts.",
    ],
    ["an own __proto__", JSON.parse('{"executor":"script","path":"a","__proto__":1}'), "__proto__"],
  ])("are refused with %s", async (_, api, message) => {
    const reply = await put({ stacks: { api } });
    expect(reply.status).toBe(400);
    expect(reply.body.message).toContain(message);
  });

  it("are named by their pointer, and at most as many as a reply has", async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`s${at}`, at]));
    const reply = await put({ stacks: { "a/~b": { ...GOOD, ...many } } });
    expect(reply.body.cause.issues).toHaveLength(MAXIMUM_ISSUES);
    expect(reply.body.message).toMatch(/^configuration: \/stacks\/a~1~0b\/s0 is no setting/);
  });

  it("are those of objects below `stacks` with the name of a built-in executor, and nothing else", async () => {
    for (const configuration of [
      { api: BAD, nested: { stacks: { api: BAD } } },
      { stacks: [BAD] },
      { stacks: null },
      { stacks: { api: [BAD] } },
      { stacks: { api: { ...BAD, executor: ["script"] } } },
      { stacks: { api: { ...BAD, executor: "Script" } } },
      { stacks: { api: { ...BAD, executor: "acme-executor" } } },
      { stacks: { api: { ...BAD, executor: "constructor" } } },
      { stacks: { api: { ...BAD, executor: "__proto__" } } },
      { stacks: { api: { path: 7 } } },
    ]) {
      expect([configuration, (await put(configuration)).status]).toEqual([configuration, 200]);
      expect(await read()).toEqual(configuration);
    }
  });

  it("that were stored without a check do not block what leaves them as they are", async () => {
    await store({ replicas: 1, stacks: { api: BAD, web: GOOD } });
    expect((await world.client.patch(environment, { name: "live" })).status).toBe(200);
    const sameInAnotherOrder = { colour: "blue", path: 7, executor: "script" };
    const renamed = { replicas: 1, stacks: { web: GOOD, api: sameInAnotherOrder } };
    expect((await put(renamed)).status).toBe(200);
    expect((await put({ replicas: 2, stacks: { api: BAD } })).status).toBe(200);
    expect((await deploy(set("/replicas", 3))).status).toBe(201);
    expect((await deploy()).status).toBe(201);

    const half = { executor: "script", path: 7 };
    expectProblems(await put({ stacks: { api: half } }), "configuration", PROBLEMS.slice(1));
    expectProblems(await put({ stacks: { moved: BAD } }), "configuration", [
      ...PROBLEMS.map((each) => each.replace("/api/", "/moved/")),
    ]);
    const remove = { op: "remove", path: "/stacks/api/colour" };
    expectProblems(await deploy(remove), "patch", PROBLEMS.slice(1));
    expect((await deploy(remove, set("/stacks/api/path", "deploy.sh"))).status).toBe(201);
    expect((await put({ stacks: { api: { ...BAD, executor: "other" } } })).status).toBe(200);
  });

  it("do not prevent a redeployment or a promotion, so that a rollback is possible", async () => {
    await store({ stacks: { api: BAD } });
    const { id } = await newDeployment(world.client, environmentId, { source: SOURCE });
    const attempt = await Attempt.claim(runner);
    await attempt.post("start");
    expect((await attempt.succeed()).status).toBe(200);
    expect((await put({ stacks: { api: GOOD } })).status).toBe(200);

    const deployment = `/v1/deployments/${id}`;
    const again = await world.client.post(`${deployment}/redeploy`, {});
    expect(again.status).toBe(201);
    const patch = [
      { op: "add", path: "/stacks/api/colour", value: "blue" },
      { op: "replace", path: "/stacks/api/path", value: 7, old_value: "deploy.sh" },
    ];
    expect(again.body.data.patch).toHaveLength(patch.length);
    expect(again.body.data.patch).toEqual(expect.arrayContaining(patch));
    const staging = await world.client.post(`/v1/projects/${project.id}/environments`, {
      name: "staging",
    });
    const { id: environment_id } = staging.body;
    await newStack(world.client, environment_id, "api");
    const promotion = await world.client.post(`${deployment}/promote`, { environment_id });
    expect(promotion.status).toBe(201);
  });
});
