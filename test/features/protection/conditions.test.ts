import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { VerifiedSource } from "../../../src/features/deployments/conditions/model.ts";
import type { Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import {
  approve,
  claimedBy,
  GITHUB_SOURCE,
  joinProject,
  newFreeze,
  newJob,
  protect,
} from "../../support/protection.ts";
import { Attempt, claim } from "../../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newKey,
  newPool,
  newStack,
  newWorld,
  type Pool,
  type World,
} from "../../support/world.ts";
import { VirtualTimeWorker } from "../../walk/fixture.ts";

const HOUR_MS = 3_600_000;
const image = (tag: string) => ({ source: { registry: { image: `ghcr.io/acme/shop:${tag}` } } });

let world: World;
let project: Parsed;
let environmentId: string;
let pool: Pool;

beforeEach(async () => {
  world = await newWorld();
  ({ project, environmentId, pool } = await newDeployableProject(world));
});

const waiting = async (id: string): Promise<Parsed[]> =>
  (await world.client.get(`/v1/deployments/${id}`)).body["waiting_for"];

const codes = async (id: string): Promise<string[]> => (await waiting(id)).map(({ code }) => code);

async function newEnvironment(name: string): Promise<{ id: string; pool: Pool }> {
  const { body } = await world.client.post(`/v1/projects/${project.id}/environments`, { name });
  await newStack(world.client, body.id);
  return { id: body.id, pool: await newPool(world, [body.id]) };
}

/** The schedule, at another time. */
async function sweepAt(now: number): Promise<void> {
  const worker = new VirtualTimeWorker();
  worker.now = now;
  await worker.sweep();
}

const sweep = () => sweepAt(Date.now());

describe("windows", () => {
  it("hold a deployment until one opens", async () => {
    // Not within twelve hours of now, in any time zone.
    const hour = (new Date().getUTCHours() + 12) % 24;
    const from = `${String(hour).padStart(2, "0")}:00`;
    const to = `${String(hour).padStart(2, "0")}:30`;
    const days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
    const windows = { time_zone: "UTC", weekly: [{ days, from, to }] };
    await protect(world.client, environmentId, { windows });
    const { id } = await newDeployment(world.client, environmentId);
    const [reason] = await waiting(id);
    expect(reason).toMatchObject({
      code: "window",
      opens_at: expect.stringMatching(/T\d\d:00:00/),
    });
    expect(reason?.["message"]).toMatch(/^Its window opens \w+day \d\d:00 UTC\.$/);
    expect(await claimedBy(pool)).toBeUndefined();
    const opens = Date.parse(reason?.["opens_at"]);
    const row = await env.DB.prepare("select held_until from deployments where id = ?").bind(id);
    expect(await row.first("held_until")).toBe(opens);
    const always = { time_zone: "UTC", weekly: [{ days, from: "00:00", to: "00:00" }] };
    const other = await newEnvironment("open");
    await protect(world.client, other.id, { windows: always });
    const open = await newDeployment(world.client, other.id);
    expect((await Attempt.started(other.pool.runner)).deploymentId).toBe(open.id);
  });

  it("need a time zone and times that exist", async () => {
    const put = async (windows: object) =>
      (await world.client.put(`/v1/environments/${environmentId}/protection`, { windows })).status;
    const weekly = [{ days: ["monday"], from: "09:00", to: "17:00" }];
    for (const zone of ["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires"])
      expect(await put({ time_zone: zone, weekly })).toBe(200);
    for (const zone of ["Europe/Atlantis", "+02:00", "__proto__", ""])
      expect(await put({ time_zone: zone, weekly })).toBe(400);
    for (const from of ["24:00", "9:00", "09:60"])
      expect(await put({ time_zone: "UTC", weekly: [{ ...weekly[0], from }] })).toBe(400);
  });
});

describe("a freeze", () => {
  const now = () => new Date(Date.now() - 1_000).toISOString();
  const freeze = (path: string, fields: object = {}) =>
    world.client.post(path, newFreeze({ starts_at: now(), ...fields }));
  const ofOrganization = () => `/v1/orgs/${world.id}/freezes`;
  const ofProject = () => `/v1/projects/${project.id}/freezes`;

  it("of an organization or a project keeps deployments from starting, and lets runs go on", async () => {
    for (const path of [ofOrganization(), ofProject()]) {
      await newDeployment(world.client, environmentId);
      const running = await Attempt.started(pool.runner);
      const { status, body } = await freeze(path);
      expect(status).toBe(201);
      const { id } = await newDeployment(world.client, environmentId);
      expect((await waiting(id))[0]).toEqual({
        code: "freeze",
        message:
          'Frozen until 2099-11-30T00:00:00.000Z by "Black Friday": The busiest days of the year',
        opens_at: "2099-11-30T00:00:00.000Z",
      });
      expect((await running.succeed()).status).toBe(200);
      expect(await claimedBy(pool)).toBeUndefined();
      expect((await world.client.get(`/v1/freezes/${body.id}`)).body).toEqual(body);
      expect((await world.client.get(path)).body.data).toEqual([body]);
      expect((await world.client.delete(`/v1/freezes/${body.id}`)).status).toBe(204);
      await sweep();
      await (await Attempt.started(pool.runner)).succeed();
    }
  });

  it("that comes after the offer, or begins after it, refuses the start", async () => {
    await freeze(ofProject(), { starts_at: new Date(Date.now() + HOUR_MS).toISOString() });
    const { id } = await newDeployment(world.client, environmentId);
    const attempt = await Attempt.claim(pool.runner);
    await freeze(ofProject());
    expect((await attempt.post("start")).headers.get("deployment-desired")).toBe("stop");
    expect(await codes(id)).toEqual(["freeze"]);
  });

  it("is only for some environments, if it names them", async () => {
    const other = await newEnvironment("other");
    await freeze(ofProject(), { environment_ids: [other.id] });
    await newDeployment(world.client, environmentId);
    await newDeployment(world.client, other.id);
    expect(await claimedBy(other.pool)).toBeUndefined();
    expect((await Attempt.started(pool.runner)).claimed.deployment.environment_id).toBe(
      environmentId,
    );
  });

  it("needs the role, a full credential, and members and environments that exist", async () => {
    const olga = await joinProject(world, project.id, "owner");
    const mona = await joinProject(world, project.id, "contributor");
    const program = await newKey(world, { isOwn: false });
    const body = newFreeze();
    expect((await mona.client.post(ofProject(), body)).body.code).toBe("forbidden");
    expect((await olga.client.post(ofOrganization(), body)).body.code).toBe("unauthorized");
    expect((await program.client.post(ofProject(), body)).body.code).toBe("unauthorized");
    const created = await olga.client.post(ofProject(), body);
    expect(created.status).toBe(201);
    const path = `/v1/freezes/${created.body.id}`;
    expect((await mona.client.get(path)).status).toBe(200);
    expect((await mona.client.delete(path)).body.code).toBe("forbidden");
    expect((await program.client.delete(path)).body.code).toBe("unauthorized");
    const stranger = await newWorld();
    expect((await stranger.client.get(path)).status).toBe(404);
    for (const fields of [
      { override: [stranger.membershipId] },
      { environment_ids: [stranger.membershipId] },
    ])
      expect((await olga.client.post(ofProject(), newFreeze(fields))).status).toBe(404);
    const ended = newFreeze({ ends_at: "2099-11-26T00:00:00.000Z" });
    expect((await olga.client.post(ofProject(), ended)).status).toBe(400);
    expect((await olga.client.delete(path)).status).toBe(204);
  });
});

describe("a group", () => {
  it("runs one deployment at a time", async () => {
    const other = await newEnvironment("other");
    for (const id of [environmentId, other.id]) await protect(world.client, id, { group: "prod" });
    const first = await newDeployment(world.client, environmentId);
    const second = await newDeployment(world.client, other.id);
    const attempts = [await Attempt.claim(pool.runner), await Attempt.claim(other.pool.runner)];
    const replies = await Promise.all(attempts.map((each) => each.post("start")));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const isFirst = replies[0]?.status === 200;
    const [running, held] = isFirst ? [first, second] : [second, first];
    expect((await waiting(held.id))[0]).toEqual({
      code: "group",
      message: `Starts after the deployment ${running.id} of its group "prod" has ended.`,
      deployment_id: running.id,
    });
    await attempts[isFirst ? 0 : 1]?.succeed();
    await sweep();
    const next = await Attempt.started(isFirst ? other.pool.runner : pool.runner);
    expect(next.deploymentId).toBe(held.id);
  });
});

describe("an environment to come from", () => {
  it("has to have succeeded with the same source, for long enough", async () => {
    const staging = await newEnvironment("staging");
    const from = { environment_ids: [staging.id], minimum_seconds: 3_600 };
    await protect(world.client, environmentId, { from });
    const deploy = async (tag: string) =>
      (await newDeployment(world.client, environmentId, image(tag))).id;
    const id = await deploy("1");
    expect((await waiting(id))[0]).toEqual({
      code: "from",
      message: `Starts once a deployment of the same source has succeeded in "staging", and has been there for 60 minutes.`,
    });
    await newDeployment(world.client, staging.id, image("2"));
    await (await Attempt.started(staging.pool.runner)).succeed();
    expect((await waiting(id))[0]?.["opens_at"]).toBeUndefined();
    const next = await deploy("2");
    expect((await waiting(next))[0]?.["opens_at"]).toBeDefined();
    expect(await claimedBy(pool)).toBeUndefined();
    await env.DB.prepare(
      "update deployments set finished_at = finished_at - 3600000 where environment_id = ?",
    )
      .bind(staging.id)
      .run();
    await sweep();
    expect((await Attempt.started(pool.runner)).deploymentId).toBe(next);
  });

  it("is another one of the project, which has not been deleted", async () => {
    const staging = await newEnvironment("staging");
    const elsewhere = await newDeployableProject(world);
    const from = { environment_ids: [staging.id] };
    await protect(world.client, environmentId, { from });
    const { id } = await newDeployment(world.client, environmentId, image("1"));
    expect((await waiting(id))[0]?.["message"]).toContain(`"staging"`);
    await world.client.delete(`/v1/environments/${staging.id}`);
    expect((await waiting(id))[0]?.["message"]).toContain("an environment that no longer exists");
    for (const other of [staging.id, elsewhere.environmentId, environmentId]) {
      const path = `/v1/environments/${environmentId}/protection`;
      const reply = await world.client.put(path, { from: { environment_ids: [other] } });
      expect(reply.status).toBe(404);
    }
  });

  it("compares the configuration, too, outside of some paths", async () => {
    const staging = await newEnvironment("staging");
    const from = { environment_ids: [staging.id], same_configuration: { except: ["/replicas"] } };
    await protect(world.client, environmentId, { from });
    const set = (value: object) =>
      Object.entries(value).map(([name, each]) => ({ op: "add", path: `/${name}`, value: each }));
    await newDeployment(world.client, staging.id, { patch: set({ replicas: 1, search: true }) });
    await (await Attempt.started(staging.pool.runner)).succeed();
    await sweep();
    const other = await newDeployment(world.client, environmentId, {
      patch: set({ replicas: 9, search: false }),
    });
    expect(await codes(other.id)).toEqual(["from"]);
    const same = await newDeployment(world.client, environmentId, {
      patch: set({ replicas: 9, search: true }),
    });
    expect(await codes(same.id)).toEqual(["runner"]);
    expect((await Attempt.started(pool.runner)).deploymentId).toBe(same.id);
  });
});

describe("sources", () => {
  const { issuer } = GITHUB_SOURCE;
  const RULE = { sources: [{ issuer, repository_id: "74", ref: "refs/heads/*" }] };
  const CLAIMS = GITHUB_SOURCE;

  const git = (sha: string, repoId = "74") => ({
    source: {
      git: {
        commit: { author: {}, committer: {}, message: "m", sha },
        installation_id: "1",
        owner: "acme",
        provider: "github",
        ref: "refs/heads/main",
        repo: "shop",
        repo_id: repoId,
      },
    },
  });

  it("are the verified claims of the job, and not what it writes", async () => {
    await protect(world.client, environmentId, RULE);
    const sha = CLAIMS.sha;
    const refused: [claims: VerifiedSource | null, source: object][] = [
      [null, git(sha)],
      [{ ...CLAIMS, repository_id: "75" }, git(sha)],
      [{ ...CLAIMS, ref: "refs/tags/main" }, git(sha)],
      [{ ...CLAIMS, ref: "refs/heads/a/b" }, git(sha)],
      [CLAIMS, git("b".repeat(40))],
      [CLAIMS, git(sha, "75")],
    ];
    for (const [claims, source] of refused) {
      const client = await newJob(world, project.id, claims);
      const { id } = await newDeployment(client, environmentId, source);
      expect([claims, source, await codes(id)]).toEqual([claims, source, ["sources"]]);
    }
    for (const source of [git(sha), image("1")]) {
      const { id } = await newDeployment(
        await newJob(world, project.id, CLAIMS),
        environmentId,
        source,
      );
      expect(await codes(id)).toEqual(["runner"]);
      await (await Attempt.started(pool.runner)).succeed();
    }
  });

  it("make nobody the creator without who has made the trust", async () => {
    const approvals = { required: 1, approvers: { role: "owner" } };
    await protect(world.client, environmentId, { ...RULE, approvals });
    const { id } = await newDeployment(
      await newJob(world, project.id, CLAIMS),
      environmentId,
      image("1"),
    );
    expect((await approve(world.client, id)).status).toBe(201);
    expect((await claim(pool.runner)).body.deployment.id).toBe(id);
  });
});

describe("approvals", () => {
  it("expire while they are not complete, and not while something else holds", async () => {
    const approvals = { required: 1, approvers: { role: "owner" }, expires_after_seconds: 60 };
    await protect(world.client, environmentId, { approvals });
    const mona = await joinProject(world, project.id, "contributor");
    const { id } = await newDeployment(mona.client, environmentId);
    await sweepAt(Date.now() + 50_000);
    const status = async (each: string) => (await world.client.get(`/v1/deployments/${each}`)).body;
    expect((await status(id)).status).toBe("queued");
    await sweepAt(Date.now() + 61_000);
    expect(await status(id)).toMatchObject({
      status: "canceled",
      failure_reason: "approval_expired",
    });
    await world.client.post(
      `/v1/projects/${project.id}/freezes`,
      newFreeze({ starts_at: new Date(Date.now() - 1_000).toISOString() }),
    );
    const { id: complete } = await newDeployment(mona.client, environmentId);
    await approve(world.client, complete);
    await sweepAt(Date.now() + HOUR_MS);
    expect((await status(complete)).status).toBe("queued");
  });
});

describe("a deployment with its approvals that no runner asks for", () => {
  it.each([
    ["expires once they no longer count", true, "canceled"],
    ["waits as long as they count", false, "queued"],
  ])("%s", async (_, leaves, expected) => {
    const approvals = { required: 1, approvers: { role: "owner" }, expires_after_seconds: 60 };
    await protect(world.client, environmentId, { approvals });
    const mona = await joinProject(world, project.id, "contributor");
    const olga = await joinProject(world, project.id, "owner");
    const { id } = await newDeployment(mona.client, environmentId);
    expect((await approve(olga.client, id)).status).toBe(201);
    await sweep();
    expect(await codes(id)).toEqual(["runner"]);
    if (leaves) {
      const path = `/v1/projects/${project.id}/members/${olga.membershipId}`;
      expect((await world.client.delete(path)).status).toBe(204);
    }
    await sweepAt(Date.now() + 50_000);
    const read = async () => (await world.client.get(`/v1/deployments/${id}`)).body;
    expect((await read()).status).toBe("queued");
    await sweepAt(Date.now() + 61_000);
    expect((await read()).status).toBe(expected);
    expect((await read()).failure_reason).toBe(leaves ? "approval_expired" : undefined);
    const attempts = env.DB.prepare("select count(*) as n from attempts where deployment_id = ?");
    expect(await attempts.bind(id).first("n")).toBe(0);
  });

  it("and one without rules, which nothing evaluates, differ in their time", async () => {
    await protect(world.client, environmentId, { group: "prod" });
    const { id } = await newDeployment(world.client, environmentId);
    const until = async () =>
      env.DB.prepare("select held_until from deployments where id = ?")
        .bind(id)
        .first("held_until");
    expect(await until()).toBe(1);
    const other = await newEnvironment("open");
    const free = await newDeployment(world.client, other.id);
    const select = env.DB.prepare("select held_until from deployments where id = ?").bind(free.id);
    expect(await select.first("held_until")).toBe(0);
    expect((await Attempt.started(pool.runner)).deploymentId).toBe(id);
    expect(await until()).toBe(0);
  });
});

describe("the guard of the claim", () => {
  it.each([
    ["does not offer a deployment that was never evaluated", () => null, false],
    ["does not offer one that is held for another millisecond", (now: number) => now + 1, false],
    ["offers one from the time on until which it was held", (now: number) => now, true],
  ])("%s", async (_, heldUntil, isOffered) => {
    const { id } = await newDeployment(world.client, environmentId);
    const now = Date.now();
    const worker = new Instrumented({ clock: { now: () => now } });
    await env.DB.prepare("update deployments set held_until = ?2 where id = ?1")
      .bind(id, heldUntil(now))
      .run();
    const { status } = await claim(pool.runner.via(worker.fetch));
    expect(status).toBe(isOffered ? 200 : 204);
  });
});

describe("an offer of a deployment that is held", () => {
  it("does not start it, whatever `held_until` says", async () => {
    await protect(world.client, environmentId, {
      approvals: { required: 1, approvers: { role: "owner" } },
    });
    const mona = await joinProject(world, project.id, "contributor");
    const { id } = await newDeployment(mona.client, environmentId);
    const attempt = await offerAnyway(id);
    expect(await attempt.post("start")).toMatchObject({ status: 409 });
    expect((await world.client.get(`/v1/deployments/${id}`)).body.status).toBe("queued");
    expect((await approve(world.client, id)).status).toBe(201);
    expect((await (await offerAnyway(id)).post("start")).status).toBe(200);
  });

  async function offerAnyway(id: string): Promise<Attempt> {
    await env.DB.prepare("update deployments set held_until = 0 where id = ?").bind(id).run();
    return Attempt.claim(pool.runner);
  }
});
