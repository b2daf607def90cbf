import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import page from "../../../docs/protection.md?raw";
import type { Client, Parsed, Reply } from "../../support/client.ts";
import {
  approve,
  claimedBy,
  GITHUB_SOURCE,
  joinProject,
  newJob as newJobOf,
} from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newPool,
  newStack,
  newWorld,
  type Person,
  type Pool,
  type World,
} from "../../support/world.ts";
import { VirtualTimeWorker } from "../../walk/fixture.ts";

let world: World;
let project: Parsed;
let production: string;
let pool: Pool;
let mona: Person;

beforeEach(async () => {
  world = await newWorld();
  ({ project, environmentId: production, pool } = await newDeployableProject(world));
  mona = await joinProject(world, project.id, "contributor");
});

/** Sends what the first command of a section of the page sends, with these variables of the shell. */
async function apply(section: string, shell: Record<string, string>): Promise<Reply> {
  const [, rest = ""] = page.split(`### ${section}\n`);
  const [, command = ""] = /```sh\n([^`]*)```/.exec(rest) ?? [];
  const text = command
    .replaceAll("\\\n", " ")
    .replaceAll(/'?\$([A-Z_]+)'?/g, (_, name: string) => shell[name] ?? `no ${name}`);
  const [, method, path = ""] = /api (\w+) (\S+)/.exec(text) ?? [];
  const fields = [...text.matchAll(/ (\w+)(:?)=(?:'([^']*)'|(\S+))/g)].map(
    ([, name, isJson, quoted, plain]) => {
      const value = quoted ?? plain ?? "";
      return [name, isJson ? (JSON.parse(value) as unknown) : value] as const;
    },
  );
  const body = Object.fromEntries(fields);
  return method === "POST" ? world.client.post(path, body) : world.client.put(path, body);
}

/** Sets the rules of a section, as its body of the PUT has them. */
async function protect(section: string, stagingId = ""): Promise<void> {
  const [, rest = ""] = page.split(`### ${section}\n`);
  const [, json = ""] = /```json\n([^`]*)```/.exec(rest) ?? [];
  const rules = JSON.parse(json.replace("1CfxKdwWcfEyrDeRPtCDxJ", stagingId)) as object;
  const reply = await world.client.put(`/v1/environments/${production}/protection`, rules);
  expect([reply.status, reply.text]).toEqual([200, expect.stringContaining(production)]);
  expect(reply.body).toMatchObject(rules);
}

const codes = async (id: string): Promise<string[]> =>
  (await world.client.get(`/v1/deployments/${id}`)).body["waiting_for"].map(
    ({ code }: Parsed) => code,
  );

const image = (tag: string) => ({ source: { registry: { image: `shop:${tag}` } } });

/** A Worker whose clock shows this time, after its schedule has run. */
async function workerAt(time: string): Promise<VirtualTimeWorker> {
  const worker = new VirtualTimeWorker();
  worker.now = Date.parse(time);
  await worker.sweep();
  return worker;
}

const key = ({ client }: { client: Client }) => String(client.key);

describe("docs/protection.md: two people for production", () => {
  it("starts nothing for one person, and what another one has approved", async () => {
    await protect("Two people for production");
    const { id } = await newDeployment(world.client, production);
    expect((await approve(world.client, id)).status).toBe(403);
    expect((await approve(mona.client, id)).status).toBe(403);
    expect(await claimedBy(pool)).toBeUndefined();
    const olga = await joinProject(world, project.id, "owner");
    expect((await approve(olga.client, id)).status).toBe(201);
    expect(await claimedBy(pool)).toBe(id);
  });
});

describe("docs/protection.md: only what was in staging for an hour", () => {
  it("holds what is new, was there too short, or has another configuration, and starts the rest", async () => {
    const path = `/v1/projects/${project.id}/environments`;
    const { body: staging } = await world.client.post(path, { name: "staging" });
    await newStack(world.client, staging.id);
    const stagingPool = await newPool(world, [staging.id]);
    await protect("Only what was in staging for an hour", staging.id);
    const patch = (replicas: number, search: boolean) => ({
      patch: [
        { op: "add", path: "/replicas", value: replicas },
        { op: "add", path: "/search", value: search },
      ],
    });
    const tried = await newDeployment(mona.client, staging.id, {
      ...image("1"),
      ...patch(1, true),
    });
    await (await Attempt.started(stagingPool.runner)).succeed();
    const { id } = await newDeployment(mona.client, production, {
      ...image("1"),
      ...patch(8, true),
    });
    expect(await codes(id)).toEqual(["from"]);
    expect(await claimedBy(pool)).toBeUndefined();
    await env.DB.prepare("update deployments set finished_at = finished_at - 3600000 where id = ?")
      .bind(tried.id)
      .run();
    const worker = new VirtualTimeWorker();
    worker.now = Date.now();
    await worker.sweep();
    expect(await codes(id)).toEqual(["runner"]);
    for (const other of [
      { ...image("2"), ...patch(8, true) },
      { ...image("1"), ...patch(8, false) },
    ]) {
      expect(await codes((await newDeployment(mona.client, production, other)).id)).toEqual([
        "from",
      ]);
    }
  });
});

describe("docs/protection.md: only the main branch of one repository, from CI", () => {
  const newJob = (ref: string, repository_id: string): Promise<Client> =>
    newJobOf(world, project.id, { ...GITHUB_SOURCE, ref, repository_id });

  it("holds people, other branches and other repositories, and starts its jobs", async () => {
    await protect("Only the main branch of one repository, from CI");
    for (const client of [
      world.client,
      await newJob("refs/heads/other", "1296269"),
      await newJob("refs/heads/main", "1296270"),
    ]) {
      expect(await codes((await newDeployment(client, production, image("1"))).id)).toEqual([
        "sources",
      ]);
    }
    const job = await newJob("refs/heads/main", "1296269");
    const { id } = await newDeployment(job, production, image("1"));
    expect(await claimedBy(pool)).toBe(id);
  });
});

describe("docs/protection.md: working hours, except in an incident", () => {
  it("holds a deployment on a Friday, not a rollback, and starts it on a Monday at nine", async () => {
    const first = await newDeployment(mona.client, production, image("1"));
    await (await Attempt.started(pool.runner)).succeed();
    await newDeployment(mona.client, production, image("2"));
    await (await Attempt.started(pool.runner)).succeed();
    await protect("Working hours, except in an incident");
    const friday = await workerAt("2099-11-27T10:00:00Z");
    const create = `/v1/environments/${production}/deployments`;
    const { body } = await friday.call(key(world), "POST", create, image("3"));
    expect(body.waiting_for[0]).toMatchObject({
      code: "window",
      opens_at: "2099-11-30T08:00:00.000Z",
    });
    const back = await friday.call(key(world), "POST", `/v1/deployments/${first.id}/redeploy`);
    expect([back.status, back.body.exempt]).toEqual([201, "rollback"]);
    expect(back.body.waiting_for.map(({ code }: Parsed) => code)).not.toContain("window");
    const monday = await workerAt("2099-11-30T08:00:00Z");
    const third = await monday.call(key(world), "POST", create, image("3"));
    expect(third.body.waiting_for.map(({ code }: Parsed) => code)).not.toContain("window");
  });
});

describe("docs/protection.md: a freeze over the holidays, which one person may override", () => {
  it("holds everything meanwhile, until that person overrides it, and nobody else", async () => {
    const section = "A freeze over the holidays, which one person may override";
    const shell = { PROJECT_ID: project.id, MEMBERSHIP_ID: mona.membershipId };
    const reply = await apply(section, shell);
    expect([reply.status, reply.body.override]).toEqual([201, [mona.membershipId]]);
    const nina = await joinProject(world, project.id, "owner");
    const create = `/v1/environments/${production}/deployments`;
    await newStack(world.client, production);
    const before = await workerAt("2026-12-20T23:59:00Z");
    const free = await before.call(key(nina), "POST", create, image("1"));
    expect([free.status, free.text]).toEqual([201, expect.not.stringContaining("freeze")]);
    const christmas = await workerAt("2026-12-24T18:00:00Z");
    const { body } = await christmas.call(key(nina), "POST", create, image("2"));
    expect(body.waiting_for[0].message).toContain("Nobody is on call");
    const override = (person: Person) =>
      christmas.call(key(person), "POST", `/v1/deployments/${body.id}/override`, {
        reason: "The checkout is down",
        conditions: ["freeze"],
      });
    expect((await override(nina)).status).toBe(403);
    const overridden = await override(mona);
    expect([overridden.status, overridden.body.overridden]).toEqual([
      200,
      expect.objectContaining({ reason: "The checkout is down" }),
    ]);
    expect(overridden.body.waiting_for.map(({ code }: Parsed) => code)).not.toContain("freeze");
  });
});
