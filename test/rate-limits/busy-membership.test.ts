import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { organizationLimit, POLICIES, type PolicyName } from "../../src/rate-limits/policies.ts";
import { Client } from "../support/client.ts";
import { freezeTime } from "../support/frozen-time.ts";
import { useWindow } from "../support/full-window.ts";
import {
  join,
  newDeployableProject,
  newKey,
  newServiceAccount,
  newToken,
  newTrust,
  newWorld,
  type Person,
  signIn,
  type World,
} from "../support/world.ts";

const CREDENTIALS = 20;
/** Of each busy credential. If all were admitted under the policy `default`, they would exceed 18 times its limit. */
const BUSY_REQUESTS = 16;
/** Of each of the others: the limit of the policy `reveal`. */
const OTHER_REQUESTS = POLICIES.reveal.limit;
/** Admitted to other requests of the consumer, so that fewer reach four fifths. */
const REST = 100;
const CONNECTIONS = 6;
const VALUE = `/v1/variables/${newId(systemClock)}/value`;

beforeEach(freezeTime);

const several = <Made>(make: () => Promise<Made>) =>
  Promise.all(Array.from({ length: CREDENTIALS }, make));

/** Sends `requests` requests of each caller, in turn. */
async function send(callers: readonly Client[], path: string, requests: number) {
  const rest = Array.from({ length: requests }, () => callers)
    .flat()
    .values();
  const replies: { status: number; policy: string | null; reset: number }[] = [];
  const connection = async () => {
    for (const caller of rest) {
      const { status, headers } = await caller.raw("GET", path);
      const policy = headers.get("ratelimit-policy");
      replies.push({ status, policy, reset: Number(headers.get("x-ratelimit-reset")) });
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return replies;
}

const admittedOf = (replies: Awaited<ReturnType<typeof send>>) =>
  replies.filter(({ status }) => status !== 429);

interface Flood {
  organizationId: string;
  consumerId: string;
  busy: Client[];
  /** An owner and a service account, or the runners of another pool. */
  others: Client[];
  path: string;
}

const keyOf = async (world: World, person: Person) =>
  (await newKey(world, { membershipId: person.membershipId, role: "member" })).client;

async function newPeople() {
  const world = await newWorld();
  const busy = await join(world);
  const membershipId = await newServiceAccount(world);
  const serviceAccount = await newKey(world, { membershipId, role: "member" });
  return { world, busy, owner: await newKey(world), serviceAccount };
}

async function floodOfKeys(path: string): Promise<Flood> {
  const { world, busy, owner, serviceAccount } = await newPeople();
  return {
    organizationId: world.id,
    consumerId: busy.membershipId,
    busy: await several(() => keyOf(world, busy)),
    others: [owner.client, serviceAccount.client],
    path,
  };
}

async function floodOfSessions(path: string): Promise<Flood> {
  const { world, busy, owner, serviceAccount } = await newPeople();
  const session = async (client: Client) => (await signIn({ client })).client;
  return {
    organizationId: world.id,
    consumerId: busy.membershipId,
    busy: await several(async () => session(await keyOf(world, busy))),
    others: await Promise.all([owner, serviceAccount].map(({ client }) => session(client))),
    path,
  };
}

async function floodOfRunners(path: string): Promise<Flood> {
  const world = await newWorld();
  const { pool: busy } = await newDeployableProject(world);
  const { pool: other } = await newDeployableProject(world);
  return {
    organizationId: world.id,
    consumerId: busy.id,
    busy: await several(async () => (await newToken(world, busy)).runner),
    others: [other.runner, (await newToken(world, other)).runner],
    path,
  };
}

const FLOODS: [policy: PolicyName, what: string, start: () => Promise<Flood>][] = [
  ["default", "keys", () => floodOfKeys("/v1/orgs")],
  ["polling", "keys", () => floodOfKeys("/v1/deployments")],
  ["reveal", "keys", () => floodOfKeys(VALUE)],
  ["reveal", "sessions", () => floodOfSessions(VALUE)],
  ["console", "sessions", () => floodOfSessions("/v1/orgs")],
  ["runner", "runner tokens", () => floodOfRunners("/v1/runner/attempts")],
];

describe("a membership that floods the service", () => {
  it.each(FLOODS)(
    "under the policy %s with 20 %s is admitted 16 times the limit, and others always",
    async (policy, _, start) => {
      const { organizationId, consumerId, busy, others, path } = await start();
      const fourFifths = 16 * POLICIES[policy].limit;
      const earlier = fourFifths - REST;
      expect(await useWindow(organizationId, policy, consumerId, earlier)).toBe(earlier);

      const replies = await send(busy, path, BUSY_REQUESTS);
      const admitted = earlier + admittedOf(replies).length;
      expect(admitted).toBeGreaterThanOrEqual(fourFifths);
      expect(admitted).toBeLessThanOrEqual(18 * POLICIES[policy].limit);
      const refused = replies.filter(({ status }) => status === 429);
      const name = `"organization";q=${organizationLimit(policy)};w=60`;
      for (const each of refused.slice(0, CREDENTIALS)) expect(each.policy).toBe(name);
      for (const { reset } of refused) expect([60, 61]).toContain(reset);

      await useWindow(organizationId, policy, consumerId, organizationLimit(policy));
      const [ofOthers, ofBusy] = await Promise.all([
        send(others, path, OTHER_REQUESTS),
        send(busy, path, 2),
      ]);
      expect(admittedOf(ofOthers)).toHaveLength(others.length * OTHER_REQUESTS);
      expect(admittedOf(ofBusy).length).toBeLessThan(busy.length * 2);
    },
  );

  it("by 20 rotations of its key is admitted 16 times the limit, and others always", async () => {
    const { world, busy, owner, serviceAccount } = await newPeople();
    const others = [owner.client, serviceAccount.client];
    let { client, keyId } = busy;
    let admitted = 0;
    for (let each = 0; each < CREDENTIALS; each += 1) {
      admitted += admittedOf(await send([client], VALUE, POLICIES.reveal.limit)).length;
      expect(admittedOf(await send(others, VALUE, 1))).toHaveLength(others.length);
      const rotated = await client.post(`/v1/orgs/${world.id}/api-keys/${keyId}/rotate`, {});
      expect(rotated.status).toBe(201);
      client = new Client(rotated.body.key);
      keyId = rotated.body.id;
    }
    const ofOthers = others.length * CREDENTIALS;
    expect(admitted + ofOthers).toBeGreaterThanOrEqual(16 * POLICIES.reveal.limit);
    expect(admitted).toBeLessThanOrEqual(18 * POLICIES.reveal.limit);
    expect(admittedOf(await send(others, VALUE, 8))).toHaveLength(others.length * 8);
  });

  it("is admitted again as soon as its refusal says, and not before", async () => {
    const { organizationId, consumerId, busy, path } = await floodOfKeys("/v1/orgs");
    await useWindow(organizationId, "default", consumerId, 2_000);
    const [one, other] = busy;
    const refused = await one?.get(path);
    expect(refused?.status).toBe(429);
    const resetMs = Number(refused?.headers.get("x-ratelimit-reset")) * 1_000;
    vi.setSystemTime(Date.now() + resetMs - 1_000);
    expect((await other?.get(path))?.status).toBe(429);
    vi.setSystemTime(Date.now() + 1_000);
    expect((await one?.get(path))?.status).toBe(200);
    expect((await other?.get(path))?.status).toBe(200);
  });
});

describe("a key of a trust", () => {
  async function newTrustOf(world: World, membershipId: string) {
    const trustId = await newTrust(world, { membershipId });
    const keyOfTrust = async () => {
      const { client, keyId } = await newKey(world, { membershipId, role: "member" });
      const update = env.DB.prepare("update api_keys set trust_id = ? where id = ?");
      await update.bind(trustId, keyId).run();
      return client;
    };
    return { trustId, keys: [await keyOfTrust(), await keyOfTrust()] };
  }

  const statusesOf = async (clients: readonly Client[]) => {
    const statuses = [];
    for (const client of clients) statuses.push((await client.get("/v1/orgs")).status);
    return statuses;
  };

  it("counts with the other keys of the trust, and not with those of its membership", async () => {
    const { world, serviceAccount } = await newPeople();
    const { client, membershipId } = serviceAccount;
    const [busy, quiet] = [
      await newTrustOf(world, membershipId),
      await newTrustOf(world, membershipId),
    ];
    await useWindow(world.id, "default", busy.trustId, 2_000);
    expect(await statusesOf(busy.keys)).toEqual([429, 429]);
    expect(await statusesOf([...quiet.keys, client])).toEqual([200, 200, 200]);
  });

  it("is admitted while its membership has used up its share", async () => {
    const { world, serviceAccount } = await newPeople();
    const { client, membershipId } = serviceAccount;
    const { keys } = await newTrustOf(world, membershipId);
    await useWindow(world.id, "default", membershipId, 2_000);
    expect(await statusesOf(keys)).toEqual([200, 200]);
    const other = await newKey(world, { membershipId, role: "member" });
    expect(await statusesOf([client, other.client])).toEqual([429, 429]);
  });
});
