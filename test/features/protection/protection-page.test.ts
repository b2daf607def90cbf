import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import page from "../../../docs/protection.md?raw";
import type { Client, Parsed, Reply } from "../../support/client.ts";
import { approve, claimedBy, GITHUB_SOURCE, newJob as newJobOf } from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import { newDeployment, newPool, newStack, type Person } from "../../support/world.ts";
import { VirtualTimeWorker } from "../../walk/fixture.ts";

const shop = useShop({});

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
  return method === "POST" ? shop.world.client.post(path, body) : shop.world.client.put(path, body);
}

/** Sets the rules of a section, as its body of the PUT has them. */
async function protect(section: string, stagingId = ""): Promise<void> {
  const [, rest = ""] = page.split(`### ${section}\n`);
  const [, json = ""] = /```json\n([^`]*)```/.exec(rest) ?? [];
  const rules = JSON.parse(json.replace("1CfxKdwWcfEyrDeRPtCDxJ", stagingId)) as object;
  const reply = await shop.world.client.put(
    `/v1/environments/${shop.environmentId}/protection`,
    rules,
  );
  expect([reply.status, reply.text]).toEqual([200, expect.stringContaining(shop.environmentId)]);
  expect(reply.body).toMatchObject(rules);
}

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
    const { id } = await newDeployment(shop.world.client, shop.environmentId);
    expect((await approve(shop.world.client, id)).status).toBe(403);
    expect((await approve(shop.mona.client, id)).status).toBe(403);
    expect(await claimedBy(shop.pool)).toBeUndefined();
    const olga = await shop.join("owner");
    expect((await approve(olga.client, id)).status).toBe(201);
    expect(await claimedBy(shop.pool)).toBe(id);
  });
});

describe("docs/protection.md: only what was in staging for an hour", () => {
  it("holds what is new, was there too short, or has another configuration, and starts the rest", async () => {
    const path = `/v1/projects/${shop.project.id}/environments`;
    const { body: staging } = await shop.world.client.post(path, { name: "staging" });
    await newStack(shop.world.client, staging.id);
    const stagingPool = await newPool(shop.world, [staging.id]);
    await protect("Only what was in staging for an hour", staging.id);
    const patch = (replicas: number, search: boolean) => ({
      patch: [
        { op: "add", path: "/replicas", value: replicas },
        { op: "add", path: "/search", value: search },
      ],
    });
    const tried = await newDeployment(shop.mona.client, staging.id, {
      ...image("1"),
      ...patch(1, true),
    });
    await (await Attempt.started(stagingPool.runner)).succeed();
    const { id } = await newDeployment(shop.mona.client, shop.environmentId, {
      ...image("1"),
      ...patch(8, true),
    });
    expect(await shop.codes(id)).toEqual(["from"]);
    const reason = async () =>
      (await shop.world.client.get(`/v1/deployments/${id}`)).body["waiting_for"][0];
    expect(await reason()).toEqual({
      code: "from",
      message:
        'Starts once a deployment of the same source and configuration has succeeded in "staging", and has been there for 60 minutes.',
    });
    await workerAt(new Date().toISOString());
    expect(await reason()).toMatchObject({ code: "from", opens_at: expect.stringMatching(/Z$/) });
    expect(await claimedBy(shop.pool)).toBeUndefined();
    await env.DB.prepare("update deployments set finished_at = finished_at - 3600000 where id = ?")
      .bind(tried.id)
      .run();
    const worker = new VirtualTimeWorker();
    worker.now = Date.now();
    await worker.sweep();
    expect(await shop.codes(id)).toEqual(["runner"]);
    for (const other of [
      { ...image("2"), ...patch(8, true) },
      { ...image("1"), ...patch(8, false) },
    ]) {
      expect(
        await shop.codes((await newDeployment(shop.mona.client, shop.environmentId, other)).id),
      ).toEqual(["from"]);
    }
  });
});

describe("docs/protection.md: only the main branch of one repository, from CI", () => {
  const newJob = (ref: string, repository_id: string): Promise<Client> =>
    newJobOf(shop.world, shop.project.id, { ...GITHUB_SOURCE, ref, repository_id });

  it("holds people, other branches and other repositories, and starts its jobs", async () => {
    await protect("Only the main branch of one repository, from CI");
    for (const client of [
      shop.world.client,
      await newJob("refs/heads/other", "1296269"),
      await newJob("refs/heads/main", "1296270"),
    ]) {
      expect(
        await shop.codes((await newDeployment(client, shop.environmentId, image("1"))).id),
      ).toEqual(["sources"]);
    }
    const job = await newJob("refs/heads/main", "1296269");
    const { id } = await newDeployment(job, shop.environmentId, image("1"));
    expect(await claimedBy(shop.pool)).toBe(id);
  });
});

describe("docs/protection.md: working hours, except in an incident", () => {
  it("holds a deployment on a Friday, not a rollback, and starts it on a Monday at nine", async () => {
    const first = await newDeployment(shop.mona.client, shop.environmentId, image("1"));
    await (await Attempt.started(shop.pool.runner)).succeed();
    await newDeployment(shop.mona.client, shop.environmentId, image("2"));
    await (await Attempt.started(shop.pool.runner)).succeed();
    await protect("Working hours, except in an incident");
    const friday = await workerAt("2099-11-27T10:00:00Z");
    const create = `/v1/environments/${shop.environmentId}/deployments`;
    const { body } = await friday.call(key(shop.world), "POST", create, image("3"));
    expect(body.waiting_for[0]).toMatchObject({
      code: "window",
      opens_at: "2099-11-30T08:00:00.000Z",
      message: "Its window opens Monday 09:00 Europe/Berlin.",
    });
    const held = env.DB.prepare("select held_until from deployments where id = ?").bind(body.id);
    expect(await held.first("held_until")).toBe(Date.parse("2099-11-30T08:00:00.000Z"));
    expect(await claimedBy(shop.pool)).toBeUndefined();
    const back = await friday.call(key(shop.world), "POST", `/v1/deployments/${first.id}/redeploy`);
    expect([back.status, back.body.exempt]).toEqual([201, "rollback"]);
    expect(back.body.waiting_for.map(({ code }: Parsed) => code)).not.toContain("window");
    const monday = await workerAt("2099-11-30T08:00:00Z");
    const third = await monday.call(key(shop.world), "POST", create, image("3"));
    expect(third.body.waiting_for.map(({ code }: Parsed) => code)).not.toContain("window");
  });
});

describe("docs/protection.md: a freeze over the holidays, which one person may override", () => {
  it("holds everything meanwhile, until that person overrides it, and nobody else", async () => {
    const section = "A freeze over the holidays, which one person may override";
    const shell = { PROJECT_ID: shop.project.id, MEMBERSHIP_ID: shop.mona.membershipId };
    const reply = await apply(section, shell);
    expect([reply.status, reply.body.override]).toEqual([201, [shop.mona.membershipId]]);
    const nina = await shop.join("owner");
    const create = `/v1/environments/${shop.environmentId}/deployments`;
    await newStack(shop.world.client, shop.environmentId);
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
    const overridden = await override(shop.mona);
    expect([overridden.status, overridden.body.overridden]).toEqual([
      200,
      expect.objectContaining({ reason: "The checkout is down" }),
    ]);
    expect(overridden.body.waiting_for.map(({ code }: Parsed) => code)).not.toContain("freeze");
  });
});
