import { beforeEach, describe, expect, it } from "vitest";
import { listAuditLog } from "../support/audit.ts";
import { Client, type Parsed, type Reply } from "../support/client.ts";
import { beforeBatch, deleteKey, Instrumented } from "../support/instruments.ts";
import { newKey, newPool, newProject, newWorld, type Pool, type World } from "../support/world.ts";

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
