import { beforeEach, describe, expect, it } from "vitest";
import { listAuditLog } from "../support/audit.ts";
import { Client, type Parsed, type Reply } from "../support/client.ts";
import { beforeBatch, deleteKey, Instrumented } from "../support/instruments.ts";
import { Attempt, claim } from "../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newKey,
  newPool,
  newProject,
  newWorld,
  type Pool,
  type World,
} from "../support/world.ts";

let world: World;
let pool: Pool;
let tokens: string;

beforeEach(async () => {
  world = await newWorld();
  pool = await newPool(world, [(await newProject(world.client)).default_environment_id]);
  tokens = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens`;
});

/** A key that is revoked before the batch with this number. */
async function newRevokedKey(batch: number): Promise<Client> {
  const { client, keyId } = await newKey(world);
  const isolate = new Instrumented({ database: beforeBatch(batch, () => deleteKey(keyId)) });
  return client.via(isolate.fetch);
}

const listed = async (): Promise<Parsed[]> => (await world.client.get(tokens)).body.data;
const at = (time: number) => new Date(time).toISOString();
const statusOf = async (runner: Client) => (await runner.get("/v1/runner/attempts")).status;
const refusal = ({ status, body }: Reply) => [status, body.code, body.message];
const REVOKED = [
  409,
  "conflict",
  "The key that creates the token was just revoked, or has less now. Retry.",
];

describe("a runner token", () => {
  it("is not created if the key that creates it is revoked meanwhile", async () => {
    const before = await listed();
    const late = await newRevokedKey(1);
    expect(refusal(await late.post(tokens, { name: "late" }))).toEqual(REVOKED);
    expect(await listed()).toEqual(before);
    const { client } = await newKey(world);
    expect((await client.post(tokens, { name: "in time" })).status).toBe(201);
  });

  it.each([0, 60])(
    "is not rotated with an overlap of %d s if the key that rotates it is revoked meanwhile",
    async (overlap_seconds) => {
      const before = await listed();
      const path = `${tokens}/${pool.tokenId}/rotate`;
      const late = await newRevokedKey(2);
      expect(refusal(await late.post(path, { overlap_seconds }))).toEqual(REVOKED);
      expect(await listed()).toEqual(before);
      expect(await statusOf(pool.runner)).toBe(200);
      const actions = (await listAuditLog(world)).map(({ action }) => action);
      expect(actions).not.toContain("runner_token.rotated");
      const rotated = await (await newKey(world)).client.post(path, { overlap_seconds });
      expect(rotated.status).toBe(201);
      expect(await statusOf(new Client(rotated.body.token))).toBe(200);
      expect(await statusOf(pool.runner)).toBe(overlap_seconds === 0 ? 401 : 200);
    },
  );
});

describe("a key that expires", () => {
  const HOUR_MS = 3_600_000;
  const now = Date.now();
  const keyExpiry = now + HOUR_MS;
  let isolate: Instrumented;
  let expiring: Client;

  beforeEach(async () => {
    isolate = new Instrumented({ clock: { now: () => now } });
    expiring = (await newKey(world, { expiresAt: keyExpiry })).client.via(isolate.fetch);
  });

  it("creates runner tokens that expire with it or before, and none that last longer", async () => {
    for (const [expires_at, expected] of [
      [undefined, keyExpiry],
      [null, keyExpiry],
      [at(keyExpiry), keyExpiry],
      [at(now + 1), now + 1],
    ] as const) {
      const { status, body } = await expiring.post(tokens, { name: "eu", expires_at });
      expect([status, body.expires_at]).toEqual([201, at(expected)]);
    }
    const before = await listed();
    const late = await expiring.post(tokens, { name: "eu", expires_at: at(keyExpiry + 1) });
    expect([late.status, late.body.cause.issues[0].path]).toEqual([400, "expires_at"]);
    expect(await listed()).toEqual(before);
  });

  it.each([0, 60])(
    "rotates runner tokens with an overlap of %d s, and the new ones last no longer than it",
    async (overlap_seconds) => {
      const lasting = world.client.via(isolate.fetch);
      const create = async (lifetime?: number) => {
        const expires_at = lifetime && at(now + lifetime);
        return (await lasting.post(tokens, { name: "eu", expires_at })).body;
      };
      for (const [caller, lifetime, expected] of [
        [expiring, undefined, at(keyExpiry)],
        [expiring, 2 * HOUR_MS, at(keyExpiry)],
        [expiring, HOUR_MS / 2, at(now + HOUR_MS / 2)],
        [lasting, undefined, undefined],
        [lasting, 2 * HOUR_MS, at(now + 2 * HOUR_MS)],
      ] as const) {
        const old = await create(lifetime);
        const { status, body } = await caller.post(`${tokens}/${old.id}/rotate`, {
          overlap_seconds,
        });
        expect([status, body.expires_at]).toEqual([201, expected]);
        const runners = [body.token, old.token].map((each) => new Client(each, isolate.fetch));
        const statuses = await Promise.all(runners.map(statusOf));
        expect(statuses).toEqual([200, overlap_seconds === 0 ? 401 : 200]);
      }
    },
  );
});

describe("a change of a runner pool", () => {
  const poolPath = () => tokens.replace("/tokens", "");

  it("keeps absent fields, and replaces the environments", async () => {
    const { body: before } = await world.client.get(poolPath());
    const [one, two] = [await newProject(world.client), await newProject(world.client)];
    const ids = [one, two].map(({ default_environment_id }) => default_environment_id).toSorted();
    const { body: moved } = await world.client.patch(poolPath(), {
      environment_ids: [...ids, ids[0]],
    });
    expect(moved).toEqual({ ...before, environment_ids: ids, updated_at: moved.updated_at });
    const { body: longer } = await world.client.patch(poolPath(), { max_run_seconds: 60 });
    expect(longer).toMatchObject({ name: before.name, environment_ids: ids, max_run_seconds: 60 });
    const renamed = await world.client.patch(poolPath(), { name: "renamed" });
    expect(renamed.body).toMatchObject({ environment_ids: ids, max_run_seconds: 60 });
    expect((await world.client.get(poolPath())).text).toBe(renamed.text);
    for (const same of [{}, { environment_ids: ids.toReversed() }, { name: "renamed" }]) {
      const reply = await world.client.patch(poolPath(), same);
      expect(reply.headers.get("etag")).toBe(renamed.headers.get("etag"));
    }
  });

  it("is refused for environments of others, for none, for null and for a taken name", async () => {
    const before = await world.client.get(poolPath());
    const other = await newProject((await newWorld()).client);
    const own = await newProject(world.client);
    const taken = await newPool(world, [own.default_environment_id]);
    const { name } = (await world.client.get(poolPath().replace(pool.id, taken.id))).body;
    const refusals = [
      [404, { environment_ids: [own.default_environment_id, other.default_environment_id] }],
      [400, { environment_ids: [] }],
      [400, { environment_ids: null }],
      [400, { max_run_seconds: null }],
      [400, { name: null }],
      [409, { name, environment_ids: [own.default_environment_id] }],
    ] as const;
    for (const [status, body] of refusals) {
      expect((await world.client.patch(poolPath(), body)).status).toBe(status);
    }
    const after = await world.client.get(poolPath());
    expect([after.text, after.headers.get("etag")]).toEqual([
      before.text,
      before.headers.get("etag"),
    ]);
  });

  it("lets claimed attempts continue, and has its effect on the next claims and starts", async () => {
    const { environmentId, pool: deploying } = await newDeployableProject(world);
    const other = await newProject(world.client);
    const path = `/v1/orgs/${world.id}/runner-pools/${deploying.id}`;
    await newDeployment(world.client, environmentId);
    const attempt = await Attempt.started(deploying.runner);
    const change = { environment_ids: [other.default_environment_id], max_run_seconds: 60 };
    expect((await world.client.patch(path, change)).status).toBe(200);
    expect((await attempt.post("heartbeat")).body.desired).toBe("continue");
    expect((await attempt.variables()).status).toBe(200);
    expect((await attempt.succeed()).status).toBe(200);
    const deployment = await world.client.get(`/v1/deployments/${attempt.deploymentId}`);
    expect(deployment.body.status).toBe("succeeded");
    await newDeployment(world.client, environmentId);
    expect((await claim(deploying.runner)).status).toBe(204);
    await world.client.patch(path, { environment_ids: [environmentId] });
    expect((await claim(deploying.runner)).status).toBe(200);
  });
});
