import { env } from "cloudflare:workers";
import { Client, type Parsed, type Reply } from "./client.ts";
import { newKey, newServiceAccount, type Person, type World } from "./world.ts";

const HOUR_MS = 3_600_000;

type Caller = Pick<Person, "client">;

/** The body of a creation that succeeds. */
export async function created(reply: Promise<Reply>): Promise<Parsed> {
  const { status, text, body } = await reply;
  if (status !== 201) throw new Error(`Nothing was created: ${text}`);
  return body;
}

export const createKey = (
  { id, client }: Pick<World, "id" | "client">,
  fields: object = {},
  by = client,
): Promise<Parsed> => created(by.post(`/v1/orgs/${id}/api-keys`, { name: "test", ...fields }));

export const clientOf = ({ key }: Parsed) => new Client(key);
/** 200 for a credential that works, or else 401. */
export const statusOf = async (client: Client) => (await client.get("/v1/orgs")).status;
export const statusesOf = (clients: readonly Client[]) => Promise.all(clients.map(statusOf));

/** The actions on keys that are on record, oldest first, with the names of their targets. */
export async function keyRecordsOf({ id }: Pick<World, "id">): Promise<[string, string | null][]> {
  const { results } = await env.DB.prepare(
    "select action, target_name, outcome from audit_log where organization_id = ? order by id",
  )
    .bind(id)
    .all<{ action: string; target_name: string | null; outcome: string }>();
  return results
    .filter(({ action }) => /^api_key|^escalation|policy/.test(action))
    .map(({ action, target_name }) => [action, target_name]);
}

export async function revokeFamily(world: World, keyId: string, by: Caller = world): Promise<void> {
  const path = `/v1/orgs/${world.id}/api-keys/${keyId}?descendants=revoke`;
  const { status, text } = await by.client.delete(path);
  if (status !== 204) throw new Error(`The key was not revoked: ${text}`);
}

export async function familyOf(world: World, keyId: string, by: Caller = world): Promise<Parsed[]> {
  const { status, body, text } = await by.client.get(
    `/v1/orgs/${world.id}/api-keys/${keyId}/family`,
  );
  if (status !== 200) throw new Error(`The family was not read: ${text}`);
  return body.data;
}

/** A full key of the owner, of which the tests say that it has leaked. */
export const newLeak = (world: World, fields: Parameters<typeof newKey>[1] = {}) =>
  newKey(world, { isOwn: true, ...fields });

/** A key of the organization's program, as a CI has it. */
export async function newKeyOfProgram(
  world: World,
  role: "admin" | "member" = "admin",
): Promise<Person> {
  return newKey(world, { membershipId: await newServiceAccount(world, role), role });
}

/** Each is less than the owner: narrowed, expiring, with a lower role, or of a program. */
export async function newLesserKeys(world: World): Promise<[string, Person][]> {
  const scopes = ["members:write", "organization:write", "keys:write"] as const;
  return [
    ["narrowed", await newLeak(world, { scopes })],
    ["expiring", await newLeak(world, { expiresAt: Date.now() + HOUR_MS })],
    ["of a program", await newKeyOfProgram(world)],
  ];
}
