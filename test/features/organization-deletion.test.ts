import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { QUOTAS } from "../../src/lib/resource-types.ts";
import { Client } from "../support/client.ts";
import {
  countRows,
  endPurge,
  ofOrganizations,
  pathOf,
  purge,
  repeatWhileLeft,
  rowsIn,
  rowWith,
} from "../support/deleted-organizations.ts";
import { Instrumented, UNUSABLE } from "../support/instruments.ts";
import { newIntegration } from "../support/integrations.ts";
import {
  accept,
  connect,
  join,
  newDeployment,
  newInside,
  newInvitation,
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  signIn,
  type World,
} from "../support/world.ts";

/** Returns their hashes. */
async function addKeysOfTrust(
  world: World,
  { rows, expiresAt }: { rows: number; expiresAt: number },
): Promise<Set<string>> {
  const trustId = await newTrust(world, { membershipId: world.membershipId });
  const ids = Array.from({ length: rows }, () => newId(systemClock));
  await env.DB.prepare(
    `insert into api_keys (id, organization_id, membership_id, name, role, secret_hash, last_four,
         created_at, expires_at, trust_id)
       select value, ?1, ?2, 'ci', 'member', '${UNUSABLE}' || value, 'abcd', 1, ?3, ?4 from json_each(?5)`,
  )
    .bind(world.id, world.membershipId, expiresAt, trustId, JSON.stringify(ids))
    .run();
  return new Set(ids.map((id) => `${UNUSABLE}${id}`));
}

describe("the deletion of an organization", () => {
  it("needs an owner", async () => {
    const world = await newWorld();
    const { client } = await join(world, "admin");
    expect((await client.delete(pathOf(world))).body.code).toBe("unauthorized");
  });

  it.each(["queued", "in_progress", "canceling"])(
    "is a conflict while a deployment is %s, and changes nothing",
    async (status) => {
      const world = await newWorld();
      const project = await newProject(world.client);
      await connect(world.client, project.id);
      await newInside(world.client, project.default_environment_id);
      const deployment = await newDeployment(world.client, project.default_environment_id);
      const set = env.DB.prepare("update deployments set status = ?1 where id = ?2");
      await set.bind(status, deployment.id).run();
      const before = await countRows(world.id);
      const refused = await world.client.delete(pathOf(world));
      expect(refused).toMatchObject({ status: 409, body: { code: "conflict" } });
      expect(await countRows(world.id)).toEqual(before);
      expect((await world.client.get(pathOf(world))).body.name).toBe("Test");
      await set.bind("failed", deployment.id).run();
      expect((await world.client.delete(pathOf(world))).status).toBe(204);
    },
  );

  it("refuses its keys and runner tokens at once, also in isolates that have cached them", async () => {
    const world = await newWorld();
    const member = await join(world);
    const project = await newProject(world.client);
    const { runner } = await newPool(world, [project.default_environment_id]);
    const isolate = new Instrumented();
    const cached = [world.client, member.client].map((client) => client.via(isolate.fetch));
    for (const client of cached) expect((await client.get("/v1/whoami")).status).toBe(200);
    const claim = () => runner.via(isolate.fetch).post("/v1/runner/claims", { request_id: "r" });
    expect((await claim()).status).toBe(204);
    expect((await world.client.delete(pathOf(world))).status).toBe(204);
    for (const client of cached) expect((await client.get("/v1/whoami")).status).toBe(401);
    expect((await claim()).status).toBe(401);
    expect((await world.client.delete(pathOf(world))).status).toBe(401);
  });

  it("leaves nothing that gives access, and no secret of an integration", async () => {
    const world = await newWorld();
    const serviceAccountId = await newServiceAccount(world);
    await newTrust(world, { membershipId: serviceAccountId });
    const project = await newProject(world.client);
    await newPool(world, [project.default_environment_id]);
    const integration = await newIntegration(world.client, project.id);
    const { token } = await newInvitation(world);
    await signIn(world);
    await world.client.post("/v1/sign-in-links", undefined);
    const withSecrets = ofOrganizations.filter(({ names }) => names.includes("secret_hash"));
    const access = [...withSecrets.map(({ name }) => name), "trusts"];
    expect(access.toSorted()).toEqual([
      "api_keys",
      "invitations",
      "runner_tokens",
      "sessions",
      "sign_in_links",
      "trusts",
    ]);
    const count = async () =>
      Promise.all(access.map(async (each) => (await rowsIn(each, world.id)).length));
    expect(await count()).not.toContain(0);
    expect((await world.client.delete(pathOf(world))).status).toBe(204);
    expect(await count()).toEqual([0, 0, 0, 0, 0, 0]);
    expect(await rowWith("integrations", integration.id)).toMatchObject({ url: "", secret: null });
    const accepted = await new Client(undefined).post("/v1/invitations/accept", { token });
    expect(accepted.status).toBe(404);
  });

  it("lets no request that was in progress give access", async () => {
    const world = await newWorld();
    const { token, id } = await newInvitation(world);
    const invitation = await rowWith("invitations", id);
    expect((await world.client.delete(pathOf(world))).status).toBe(204);
    const columns = Object.keys(invitation ?? {});
    const places = columns.map(() => "?").join(", ");
    const insert = env.DB.prepare(`insert into invitations (${columns}) values (${places})`);
    await insert.bind(...Object.values(invitation ?? {})).run();
    const accepted = await new Client(undefined).post("/v1/invitations/accept", { token });
    expect(accepted.status).toBe(404);
    await purge();
    expect(await rowsIn("invitations", world.id)).toEqual([]);
  });

  it("invalidates at most 2,000 keys and tokens that have not expired, those of trusts last", async () => {
    const world = await newWorld();
    const member = await join(world);
    const { keyId: expired } = await newKey(world, { expiresAt: Date.now() - 1 });
    const project = await newProject(world.client);
    const pool = await newPool(world, [project.default_environment_id]);
    await addKeysOfTrust(world, { rows: 1_100, expiresAt: 1 });
    const ofTrust = await addKeysOfTrust(world, {
      rows: 2_100,
      expiresAt: Date.now() + 900_000,
    });
    const hashOf = async (table: string, id: string) =>
      String((await rowWith(table, id))?.["secret_hash"]);
    const { results } = await env.DB.prepare(
      "select secret_hash from api_keys where organization_id = ? and trust_id is null and id <> ?",
    )
      .bind(world.id, expired)
      .all<{ secret_hash: string }>();
    const ofPeople = [
      ...results.map((row) => row.secret_hash),
      await hashOf("runner_tokens", pool.tokenId),
    ];
    expect(ofPeople).toContain(await hashOf("api_keys", member.keyId));

    const isolate = new Instrumented();
    expect((await world.client.via(isolate.fetch).delete(pathOf(world))).status).toBe(204);
    const invalidated = isolate.objects
      .flatMap(({ statements }) => statements)
      .filter(({ sql }) => sql === "raiseVersion")
      .map(({ params }) => String(params[0]));
    expect(invalidated).toHaveLength(LIMITS.invalidatedCredentials.value);
    const first = invalidated.slice(0, ofPeople.length);
    expect(first.toSorted()).toEqual(ofPeople.toSorted());
    const others = new Set(invalidated.slice(ofPeople.length));
    expect([...others].filter((hash) => !ofTrust.has(hash))).toEqual([]);
    expect(LIMITS.invalidatedCredentials.value).toBeGreaterThanOrEqual(
      QUOTAS.api_keys + QUOTAS.runner_tokens,
    );
  });

  it("counts toward the organizations that its owner owns until its purge ends", async () => {
    const world = await newWorld();
    const create = () => world.client.post("/v1/orgs", { name: "Looped" });
    const ids: string[] = [];
    for (let owned = 1; owned < LIMITS.ownedOrganizations.value; owned += 1) {
      const { body } = await create();
      const { status } = await new Client(body.api_key.key).delete(pathOf(body));
      expect([owned, status]).toEqual([owned, 204]);
      ids.push(body.id);
    }
    const refused = { status: 409, body: { code: "conflict" } };
    expect(await create()).toMatchObject(refused);
    await new Instrumented().sweep();
    expect(await create()).toMatchObject(refused);
    await repeatWhileLeft(5, "purges", ids, endPurge);
    expect((await create()).status).toBe(201);
  });

  it("does not block the deletion of an account", async () => {
    const world = await newWorld();
    const { body: second } = await world.client.post("/v1/orgs", { name: "Second" });
    const other = new Client(second.api_key.key);
    expect((await other.post("/v1/projects", { name: "p" })).status).toBe(201);
    expect((await other.delete(pathOf(second))).status).toBe(204);
    const successor = await accept(world, { role: "owner" });
    await newKey(world, { membershipId: successor.membershipId, role: "owner" });
    const { client } = await newKey(world, { isOwn: true });
    expect((await client.delete("/v1/account")).status).toBe(204);
  });
});
