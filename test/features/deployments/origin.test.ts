import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Client, Parsed } from "../../support/client.ts";
import { ExchangeHarness } from "../../support/exchange-harness.ts";
import { AUDIENCE, ISSUER, Issuer } from "../../support/issuer.ts";
import { joinProject } from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newInside,
  newKey,
  newServiceAccount,
  newStack,
  newWorld,
  type Person,
  type World,
} from "../../support/world.ts";

const SECOND_MS = 1_000;
const GITHUB = "https://token.actions.githubusercontent.com";

let world: World;
let project: Parsed;
let environmentId: string;

beforeAll(async () => {
  world = await newWorld();
  ({ project, environmentId } = await newDeployableProject(world));
});

const read = async (id: string, client = world.client): Promise<Parsed> =>
  (await client.get(`/v1/deployments/${id}`)).body;

const listed = async (id: string): Promise<Parsed> => {
  const { body } = await world.client.get(
    `/v1/environments/${environmentId}/deployments?limit=100`,
  );
  return body.data.find((each: Parsed) => each["id"] === id);
};

const rename = ({ membershipId }: Pick<Person, "membershipId">, name: string) =>
  env.DB.prepare(
    `update accounts set display_name = ?2
      where id = (select account_id from memberships where id = ?1)`,
  )
    .bind(membershipId, name)
    .run();

describe("who has created a deployment", () => {
  it("is the person, as everybody reads it, with the reason", async () => {
    const people = [await joinProject(world, project.id, "contributor"), world];
    const reasons = ["More traffic", undefined];
    for (const [at, { client, membershipId }] of people.entries()) {
      await rename({ membershipId }, `Person ${at}`);
      const created = await newDeployment(client, environmentId, { reason: reasons[at] });
      const expected = {
        created_by: { type: "person", name: `Person ${at}`, membership_id: membershipId },
        trigger: "api",
      };
      for (const shown of [created, await read(created.id), await listed(created.id)]) {
        expect(shown).toMatchObject(expected);
        expect([shown["reason"], shown["from_deployment_id"]]).toEqual([reasons[at], undefined]);
      }
    }
  });

  it("is called as it is called now, and has no name once it is removed", async () => {
    const person = await joinProject(world, project.id, "contributor");
    const { id } = await newDeployment(person.client, environmentId);
    await rename(person, "Before");
    await rename(person, "After");
    expect((await read(id)).created_by.name).toBe("After");
    await world.client.delete(`/v1/orgs/${world.id}/members/${person.membershipId}`);
    const expected = { type: "person", membership_id: person.membershipId };
    expect((await read(id)).created_by).toEqual(expected);
    expect((await listed(id)).created_by).toEqual(expected);
  });

  it("is a service account with its own name", async () => {
    const membershipId = await newServiceAccount(world);
    await rename({ membershipId }, "nightly");
    await world.client.post(`/v1/projects/${project.id}/members`, {
      member_ids: [membershipId],
      role: "contributor",
    });
    const { client } = await newKey(world, { membershipId });
    const { id } = await newDeployment(client, environmentId);
    expect((await read(id)).created_by).toEqual({
      type: "service_account",
      name: "nightly",
      membership_id: membershipId,
    });
  });
});

describe("a deployment of a CI job", () => {
  let harness: ExchangeHarness;
  let trust: Parsed;
  let membershipId: string;

  beforeAll(async () => {
    harness = new ExchangeHarness(await Issuer.create());
    membershipId = await newServiceAccount(world);
    await world.client.post(`/v1/projects/${project.id}/members`, {
      member_ids: [membershipId],
      role: "contributor",
    });
    const reply = await world.client.via(harness.worker.fetch).post(`/v1/orgs/${world.id}/trusts`, {
      name: "deploy workflow",
      issuer: ISSUER,
      audience: AUDIENCE,
      conditions: { environment: "production" },
      membership_id: membershipId,
    });
    trust = reply.body;
  });

  const deployAs = async (claims: object): Promise<Parsed> => {
    const { body } = await harness.exchangeIn(world.id, await harness.sign(claims));
    return newDeployment(harness.client(body.key), environmentId);
  };

  it("has the trust, and those of the verified claims that say which run it was", async () => {
    const claims = { run_id: "17", sha: "a".repeat(40), workflow: "Deploy", actor: "octocat" };
    const created = await deployAs({ ...claims, actor_id: "583231" });
    const shown = await read(created.id);
    expect(shown.created_by).toEqual({
      type: "ci",
      name: "deploy workflow",
      membership_id: membershipId,
      trust_id: trust.id,
      claims: {
        ...claims,
        repository: "octo-org/octo-repo",
        repository_id: "74",
        ref: "refs/heads/main",
      },
    });
    expect((await listed(created.id)).created_by).toEqual(shown.created_by);
  });

  it("has the claims of GitLab under the same names, and no actor that is an address", async () => {
    const created = await deployAs({
      repository: undefined,
      repository_id: undefined,
      run_id: undefined,
      project_path: "acme/shop",
      project_id: "9",
      pipeline_id: "31",
      user_login: "mona@example.com",
    });
    expect((await read(created.id)).created_by.claims).toEqual({
      repository: "acme/shop",
      repository_id: "9",
      ref: "refs/heads/main",
      run_id: "31",
    });
  });

  describe("that sends its commit", () => {
    const sha = "ab".repeat(20);
    const commit = { author: {}, committer: {}, message: "Say ahoy" };
    const sourceOf = (git: object) => ({
      git: {
        commit: { ...commit, sha: sha.toUpperCase() },
        owner: "Octo-Org",
        provider: "github",
        ref: "refs/heads/main",
        repo: "octo-repo",
        repo_id: "74",
        ...git,
      },
    });
    const onServer = (url: string) =>
      sourceOf({ provider: "git", url, owner: undefined, repo: undefined, repo_id: undefined });

    const verifiedIn = async (source: object, issuer: string, claims: object = {}) => {
      const { body } = await harness.exchangeIn(world.id, await harness.sign({ sha, ...claims }));
      const keyId = body.key.slice(4, 26);
      await env.DB.prepare(
        "update api_keys set claims = json_set(claims, '$.source.issuer', ?2) where id = ?1",
      )
        .bind(keyId, issuer)
        .run();
      const { id } = await newDeployment(harness.client(body.key), environmentId, { source });
      const { data } = await read(id);
      expect((await listed(id)).data.source).toEqual(data.source);
      return data.source.verified;
    };

    it.each([
      ["at GitHub", sourceOf({}), GITHUB],
      ["at a server of one's own", onServer(`${ISSUER}/octo-org/octo-repo.git`), ISSUER],
      ["over ssh", onServer("ssh://git@ci.issuer.dev/Octo-Org/octo-repo"), ISSUER],
    ])("shows that its trust has verified the source: %s", async (_, source, issuer) => {
      expect(await verifiedIn(source, issuer)).toBe(true);
    });

    it.each([
      ["another commit", sourceOf({ commit: { ...commit, sha: "c".repeat(40) } }), GITHUB],
      ["another ref", sourceOf({ ref: "refs/heads/other" }), GITHUB],
      ["a repository of another name", sourceOf({ owner: "acme" }), GITHUB],
      ["a repository of another number", sourceOf({ repo_id: "75" }), GITHUB],
      ["no number", sourceOf({ repo_id: undefined }), GITHUB],
      ["another code host", sourceOf({ provider: "gitlab" }), GITHUB],
      ["a code host, by a server of one's own", sourceOf({}), ISSUER],
      ["another server", onServer("https://git.example.com/octo-org/octo-repo.git"), ISSUER],
      ["another path", onServer(`${ISSUER}/acme/octo-org/octo-repo.git`), ISSUER],
      ["a file", onServer("file:///octo-org/octo-repo.git"), ISSUER],
    ])("does not show it of %s, and refuses nothing for it", async (_, source, issuer) => {
      expect(await verifiedIn(source, issuer)).toBeUndefined();
    });

    it("does not show it without a claim of the commit, or of an image alone", async () => {
      expect(await verifiedIn(sourceOf({}), GITHUB, { sha: undefined })).toBeUndefined();
      expect(await verifiedIn({ registry: { image: "shop:1" } }, GITHUB)).toBeUndefined();
    });
  });

  it("has a link to its run for GitHub's issuer alone, and if the claims have the form of its runs", async () => {
    const run = await deployAs({ run_id: "17" });
    const forged = await deployAs({ run_id: "17/../../../evil" });
    const elsewhere = await deployAs({ run_id: "18", repository: "acme/shop?x=/y" });
    expect((await read(run.id)).created_by.run_url).toBeUndefined();
    await env.DB.prepare("update trusts set issuer = ?2 where id = ?1")
      .bind(trust.id, GITHUB)
      .run();
    expect((await read(run.id)).created_by.run_url).toBe(
      "https://github.com/octo-org/octo-repo/actions/runs/17",
    );
    expect((await read(forged.id)).created_by.run_url).toBeUndefined();
    expect((await read(elsewhere.id)).created_by.run_url).toBeUndefined();
    await world.client.delete(`/v1/orgs/${world.id}/trusts/${trust.id}`);
    const { name, trust_id, run_url } = (await read(run.id)).created_by;
    expect([name, trust_id, run_url]).toEqual([undefined, trust.id, undefined]);
  });
});

describe("what a deployment is a copy of", () => {
  const post = async (client: Client, id: string, verb: string, body: object = {}) =>
    (await client.post(`/v1/deployments/${id}/${verb}`, body)).body;

  it("is said of a promotion, a redeployment, and a rollback", async () => {
    const other = await newWorld();
    const made = await newDeployableProject(other);
    const environments = `/v1/projects/${made.project.id}/environments`;
    const { body: staging } = await other.client.post(environments, { name: "staging" });
    await newInside(other.client, staging.id);
    const run = async (outcome: "succeed" | "fail") => {
      const attempt = await Attempt.started(made.pool.runner);
      await (outcome === "succeed" ? attempt.succeed() : attempt.complete("failed"));
    };
    const shown = async (id: string) => {
      const { trigger, from_deployment_id } = await read(id, other.client);
      return [trigger, from_deployment_id];
    };
    const first = await newDeployment(other.client, made.environmentId);
    await run("succeed");
    const again = await post(other.client, first.id, "redeploy");
    await run("fail");
    const back = await post(other.client, first.id, "redeploy");
    await run("succeed");
    const failed = await post(other.client, again.id, "redeploy");
    const promoted = await post(other.client, back.id, "promote", { environment_id: staging.id });
    expect(await shown(first.id)).toEqual(["api", undefined]);
    expect(await shown(again.id)).toEqual(["redeployment", first.id]);
    expect(await shown(back.id)).toEqual(["rollback", first.id]);
    expect(await shown(failed.id)).toEqual(["redeployment", again.id]);
    expect(await shown(promoted.id)).toEqual(["promotion", back.id]);
  });
});

describe("how long a deployment takes, and where", () => {
  it("counts from its creation to its start, to its end, and each stack", async () => {
    const harness = new ExchangeHarness(await Issuer.create());
    const own = await newDeployableProject(world);
    for (const name of ["web", "api"]) await newStack(world.client, own.environmentId, name);
    const client = world.client.via(harness.worker.fetch);
    const runner = own.pool.runner.via(harness.worker.fetch);
    const created = await newDeployment(client, own.environmentId);
    expect(created).not.toHaveProperty("queued_seconds");
    harness.aheadMs += 30 * SECOND_MS;
    const attempt = await Attempt.started(runner);
    const [one = ""] = created.stack_ids;
    await attempt.report(one, { seq: 1, status: "in_progress" });
    harness.aheadMs += 4 * SECOND_MS;
    await attempt.report(one, { seq: 2, status: "in_progress" });
    harness.aheadMs += 3 * SECOND_MS;
    await attempt.report(one, { seq: 3, status: "succeeded" });
    const running = await read(created.id, client);
    expect([running["queued_seconds"], running["run_seconds"]]).toEqual([30, undefined]);
    expect(running.runner).toEqual({ pool: { id: own.pool.id, name: expect.any(String) } });
    harness.aheadMs += 5 * SECOND_MS;
    await attempt.complete("failed");
    const ended = await read(created.id, client);
    expect([ended["queued_seconds"], ended["run_seconds"]]).toEqual([30, 12]);
    expect(ended.data.stacks.map((stack: Parsed) => stack["run_seconds"])).toEqual([7, undefined]);
  });

  it("is the time in the queue of one that never starts", async () => {
    const { id } = await newDeployment(world.client, environmentId);
    await newDeployment(world.client, environmentId);
    const superseded = await read(id);
    expect([superseded["status"], superseded["run_seconds"]]).toEqual(["superseded", undefined]);
    expect(superseded["queued_seconds"]).toBeGreaterThanOrEqual(0);
  });
});
