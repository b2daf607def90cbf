import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { VerifiedSource } from "../../../src/features/deployments/conditions/model.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newPreviewedDeployment as newDeployment } from "../../support/previewed-deployment.ts";
import {
  approve,
  claimedBy,
  GITHUB_SOURCE,
  newFreeze,
  newJob,
  protect,
} from "../../support/protection.ts";
import { Attempt, claim } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import {
  newDeployableProject,
  newPool,
  newStack,
  newWorld,
  type Pool,
} from "../../support/world.ts";

const HOUR_MS = 3_600_000;
const shop = useShop();

const image = (tag: string) => ({ source: { registry: { image: `ghcr.io/acme/shop:${tag}` } } });

async function newEnvironment(name: string): Promise<{ id: string; pool: Pool }> {
  const { body } = await shop.world.client.post(`/v1/projects/${shop.project.id}/environments`, {
    name,
  });
  await newStack(shop.world.client, body.id);
  return { id: body.id, pool: await newPool(shop.world, [body.id]) };
}

describe("windows", () => {
  it("need a time zone and times that exist", async () => {
    const put = async (windows: object) =>
      (
        await shop.world.client.put(`/v1/environments/${shop.environmentId}/protection`, {
          windows,
        })
      ).status;
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
    shop.world.client.post(path, newFreeze({ starts_at: now(), ...fields }));
  const ofOrganization = () => `/v1/orgs/${shop.world.id}/freezes`;
  const ofProject = () => `/v1/projects/${shop.project.id}/freezes`;

  it("of an organization or a project keeps deployments from starting, and lets runs go on", async () => {
    for (const path of [ofOrganization(), ofProject()]) {
      await newDeployment(shop.world.client, shop.environmentId);
      const running = await shop.start();
      const { status, body } = await freeze(path);
      expect(status).toBe(201);
      const { id } = await newDeployment(shop.world.client, shop.environmentId);
      expect((await shop.reasons(id))[0]).toEqual({
        code: "freeze",
        message:
          'Frozen until 2099-11-30T00:00:00.000Z by "Black Friday": The busiest days of the year',
        opens_at: "2099-11-30T00:00:00.000Z",
      });
      expect((await running.succeed()).status).toBe(200);
      expect(await claimedBy(shop.pool)).toBeUndefined();
      expect((await shop.world.client.get(`/v1/freezes/${body.id}`)).body).toEqual(body);
      expect((await shop.world.client.get(path)).body.data).toEqual([body]);
      expect((await shop.world.client.delete(`/v1/freezes/${body.id}`)).status).toBe(204);
      await shop.sweep();
      await (await shop.start()).succeed();
    }
  });

  it("that comes after the offer, or begins after it, refuses the start", async () => {
    await freeze(ofProject(), { starts_at: new Date(Date.now() + HOUR_MS).toISOString() });
    const { id } = await newDeployment(shop.world.client, shop.environmentId);
    const attempt = await Attempt.claim(shop.pool.runner);
    await freeze(ofProject());
    expect((await attempt.post("start")).headers.get("deployment-desired")).toBe("stop");
    expect(await shop.codes(id)).toEqual(["freeze"]);
  });

  it("is only for some environments, if it names them", async () => {
    const other = await newEnvironment("other");
    await freeze(ofProject(), { environment_ids: [other.id] });
    await newDeployment(shop.world.client, shop.environmentId);
    await newDeployment(shop.world.client, other.id);
    expect(await claimedBy(other.pool)).toBeUndefined();
    expect((await shop.start()).claimed.deployment.environment_id).toBe(shop.environmentId);
  });

  it("needs the role, and members and environments that exist", async () => {
    const olga = await shop.join("owner");
    const mona = await shop.join("contributor");
    const body = newFreeze();
    expect((await mona.client.post(ofProject(), body)).body.code).toBe("forbidden");
    expect((await olga.client.post(ofOrganization(), body)).body.code).toBe("unauthorized");
    const created = await olga.client.post(ofProject(), body);
    expect(created.status).toBe(201);
    const path = `/v1/freezes/${created.body.id}`;
    expect((await mona.client.get(path)).status).toBe(200);
    expect((await mona.client.delete(path)).body.code).toBe("forbidden");
    const stranger = await newWorld();
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
    for (const id of [shop.environmentId, other.id])
      await protect(shop.world.client, id, { group: "prod" });
    const first = await newDeployment(shop.world.client, shop.environmentId);
    const second = await newDeployment(shop.world.client, other.id);
    const attempts = [
      await Attempt.claim(shop.pool.runner),
      await Attempt.claim(other.pool.runner),
    ];
    const replies = await Promise.all(attempts.map((each) => each.post("start")));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const isFirst = replies[0]?.status === 200;
    const [running, held] = isFirst ? [first, second] : [second, first];
    expect((await shop.reasons(held.id))[0]).toEqual({
      code: "group",
      message: `Starts after the deployment ${running.id} of its group "prod" has ended.`,
      deployment_id: running.id,
    });
    await attempts[isFirst ? 0 : 1]?.succeed();
    await shop.sweep();
    const next = await Attempt.started(isFirst ? other.pool.runner : shop.pool.runner);
    expect(next.deploymentId).toBe(held.id);
    const idle = isFirst ? shop.environmentId : other.id;
    const [reason] = (await newDeployment(shop.world.client, idle))["waiting_for"];
    expect(reason).toMatchObject({ code: "group", deployment_id: held.id });
  });

  it("waits for a deployment that is being canceled, too", async () => {
    const other = await newEnvironment("other");
    for (const id of [shop.environmentId, other.id])
      await protect(shop.world.client, id, { group: "prod" });
    const { id } = await newDeployment(shop.world.client, shop.environmentId);
    const running = await shop.start();
    await shop.world.client.patch(`/v1/deployments/${id}/cancel`);
    const [reason] = (await newDeployment(shop.world.client, other.id))["waiting_for"];
    expect(reason).toMatchObject({ code: "group", deployment_id: id });
    expect(await claimedBy(other.pool)).toBeUndefined();
    await running.complete("canceled");
    await shop.sweep();
    expect(await claimedBy(other.pool)).toBeDefined();
  });
});

describe("an environment to come from", () => {
  it("is another one of the project, which has not been deleted", async () => {
    const staging = await newEnvironment("staging");
    const elsewhere = await newDeployableProject(shop.world);
    const from = { environment_ids: [staging.id] };
    await shop.protect({ from });
    const { id } = await newDeployment(shop.world.client, shop.environmentId, image("1"));
    expect((await shop.reasons(id))[0]?.["message"]).toContain(`"staging"`);
    await shop.world.client.delete(`/v1/environments/${staging.id}`);
    expect((await shop.reasons(id))[0]?.["message"]).toContain(
      "an environment that no longer exists",
    );
    for (const other of [staging.id, elsewhere.environmentId, shop.environmentId]) {
      const path = `/v1/environments/${shop.environmentId}/protection`;
      const reply = await shop.world.client.put(path, { from: { environment_ids: [other] } });
      expect(reply.status).toBe(404);
    }
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
    await shop.protect(RULE);
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
      const client = await newJob(shop.world, shop.project.id, claims);
      const { id } = await newDeployment(client, shop.environmentId, source);
      expect([claims, source, await shop.codes(id)]).toEqual([claims, source, ["sources"]]);
    }
    for (const source of [git(sha), image("1")]) {
      const { id } = await newDeployment(
        await newJob(shop.world, shop.project.id, CLAIMS),
        shop.environmentId,
        source,
      );
      expect(await shop.codes(id)).toEqual(["runner"]);
      await (await shop.start()).succeed();
    }
  });

  it("make nobody the creator without who has made the trust", async () => {
    const approvals = { required: 1, approvers: { role: "owner" } };
    await shop.protect({ ...RULE, approvals });
    const { id } = await newDeployment(
      await newJob(shop.world, shop.project.id, CLAIMS),
      shop.environmentId,
      image("1"),
    );
    expect((await approve(shop.world.client, id)).status).toBe(201);
    expect((await claim(shop.pool.runner)).body.deployment.id).toBe(id);
  });
});

describe("approvals", () => {
  it("expire while they are not complete, and not while something else holds", async () => {
    const approvals = { required: 1, approvers: { role: "owner" }, expires_after_seconds: 60 };
    await shop.protect({ approvals });
    const mona = await shop.join("contributor");
    const { id } = await newDeployment(mona.client, shop.environmentId);
    await shop.sweep(Date.now() + 50_000);
    const status = async (each: string) =>
      (await shop.world.client.get(`/v1/deployments/${each}`)).body;
    expect((await status(id)).status).toBe("queued");
    await shop.sweep(Date.now() + 61_000);
    expect(await status(id)).toMatchObject({
      status: "canceled",
      failure_reason: "approval_expired",
    });
    await shop.world.client.post(
      `/v1/projects/${shop.project.id}/freezes`,
      newFreeze({ starts_at: new Date(Date.now() - 1_000).toISOString() }),
    );
    const { id: complete } = await newDeployment(mona.client, shop.environmentId);
    await approve(shop.world.client, complete);
    await shop.sweep(Date.now() + HOUR_MS);
    expect((await status(complete)).status).toBe("queued");
  });
});

describe("a deployment with its approvals that no runner asks for", () => {
  it.each([
    ["expires once they no longer count", true, "canceled"],
    ["waits as long as they count", false, "queued"],
  ])("%s", async (_, leaves, expected) => {
    const approvals = { required: 1, approvers: { role: "owner" }, expires_after_seconds: 60 };
    await shop.protect({ approvals });
    const mona = await shop.join("contributor");
    const olga = await shop.join("owner");
    const { id } = await newDeployment(mona.client, shop.environmentId);
    expect((await approve(olga.client, id)).status).toBe(201);
    await shop.sweep();
    expect(await shop.codes(id)).toEqual(["runner"]);
    if (leaves) {
      const path = `/v1/projects/${shop.project.id}/members/${olga.membershipId}`;
      expect((await shop.world.client.delete(path)).status).toBe(204);
    }
    await shop.sweep(Date.now() + 50_000);
    const read = async () => (await shop.world.client.get(`/v1/deployments/${id}`)).body;
    expect((await read()).status).toBe("queued");
    await shop.sweep(Date.now() + 61_000);
    expect((await read()).status).toBe(expected);
    expect((await read()).failure_reason).toBe(leaves ? "approval_expired" : undefined);
    const attempts = env.DB.prepare("select count(*) as n from attempts where deployment_id = ?");
    expect(await attempts.bind(id).first("n")).toBe(0);
  });

  it("and one without rules, which nothing evaluates, differ in their time", async () => {
    await shop.protect({ group: "prod" });
    const { id } = await newDeployment(shop.world.client, shop.environmentId);
    const until = async () =>
      env.DB.prepare("select held_until from deployments where id = ?")
        .bind(id)
        .first("held_until");
    expect(await until()).toBe(1);
    const other = await newEnvironment("open");
    const free = await newDeployment(shop.world.client, other.id);
    const select = env.DB.prepare("select held_until from deployments where id = ?").bind(free.id);
    expect(await select.first("held_until")).toBe(0);
    expect((await shop.start()).deploymentId).toBe(id);
    expect(await until()).toBe(0);
  });
});

describe("the guard of the claim", () => {
  it.each([
    ["does not offer a deployment that was never evaluated", () => null, false],
    ["does not offer one that is held for another millisecond", (now: number) => now + 1, false],
    ["offers one from the time on until which it was held", (now: number) => now, true],
  ])("%s", async (_, heldUntil, isOffered) => {
    const { id } = await newDeployment(shop.world.client, shop.environmentId);
    const now = Date.now();
    const worker = new Instrumented({ clock: { now: () => now } });
    await env.DB.prepare("update deployments set held_until = ?2 where id = ?1")
      .bind(id, heldUntil(now))
      .run();
    const { status } = await claim(shop.pool.runner.via(worker.fetch));
    expect(status).toBe(isOffered ? 200 : 204);
  });
});

describe("an offer of a deployment that is held", () => {
  it("does not start it, whatever `held_until` says", async () => {
    await shop.protect({
      approvals: { required: 1, approvers: { role: "owner" } },
    });
    const mona = await shop.join("contributor");
    const { id } = await newDeployment(mona.client, shop.environmentId);
    const attempt = await offerAnyway(id);
    expect(await attempt.post("start")).toMatchObject({ status: 409 });
    expect((await shop.world.client.get(`/v1/deployments/${id}`)).body.status).toBe("queued");
    expect((await approve(shop.world.client, id)).status).toBe(201);
    expect((await (await offerAnyway(id)).post("start")).status).toBe(200);
  });

  async function offerAnyway(id: string): Promise<Attempt> {
    await env.DB.prepare("update deployments set held_until = 0 where id = ?").bind(id).run();
    return Attempt.claim(shop.pool.runner);
  }
});
