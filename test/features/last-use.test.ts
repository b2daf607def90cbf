import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import type { Client, Parsed } from "../support/client.ts";
import { newDeployableProject, newKey, newWorld, signIn, type World } from "../support/world.ts";

const MINUTE_MS = 60_000;

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

/** The credential with this ID in a list. */
async function find(client: Client, path: string, id: string): Promise<Parsed> {
  const { body } = await client.get(path);
  return body.data.find((each: Parsed) => each["id"] === id);
}

const kinds: Record<string, () => Promise<{ id: string; read: () => Promise<Parsed> }>> = {
  api_keys: async () => {
    const { keyId } = await newKey(world);
    const path = `/v1/orgs/${world.id}/api-keys/${keyId}`;
    return { id: keyId, read: async () => (await world.client.get(path)).body };
  },
  runner_tokens: async () => {
    const { id, tokenId } = (await newDeployableProject(world)).pool;
    const path = `/v1/orgs/${world.id}/runner-pools/${id}/tokens`;
    return { id: tokenId, read: () => find(world.client, path, tokenId) };
  },
  sessions: async () => {
    const { membershipId, sessionId } = await signIn(await newKey(world, { isOwn: true }));
    const path = `/v1/orgs/${world.id}/members/${membershipId}/sessions`;
    return { id: sessionId, read: () => find(world.client, path, sessionId) };
  },
};

it.each(Object.entries(kinds))(
  "the last use of one of the %s is stored to the hour, and never shown before its creation",
  async (table, create) => {
    const { id, read } = await create();
    const created = Date.parse((await read())["created_at"]);
    const shownAs = async (lastUsedAt: number) => {
      await env.DB.prepare(`update ${table} set last_used_at = ?2 where id = ?1`)
        .bind(id, lastUsedAt)
        .run();
      return Date.parse((await read())["last_used_at"]);
    };
    expect(await shownAs(created - 40 * MINUTE_MS)).toBe(created);
    expect(await shownAs(created)).toBe(created);
    expect(await shownAs(created + MINUTE_MS)).toBe(created + MINUTE_MS);
  },
);
