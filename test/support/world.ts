import { env } from "cloudflare:workers";
import { batch } from "../../src/db/batch.ts";
import { openForWriting } from "../../src/db/client.ts";
import { insertKey, issueApiKey, newKeyRow } from "../../src/features/identity/api-keys/index.ts";
import type { ApiKeyRow } from "../../src/features/identity/api-keys/store.ts";
import { toAccountRow } from "../../src/features/identity/memberships/index.ts";
import { prepareOrganization } from "../../src/features/identity/organizations/index.ts";
import { issueRunnerToken } from "../../src/features/identity/runner-tokens/credentials.ts";
import { insertToken } from "../../src/features/identity/runner-tokens/store.ts";
import {
  insertTrust,
  insertUsedToken,
  type TrustRow,
} from "../../src/features/identity/trusts/store.ts";
import { accounts } from "../../src/features/tenancy/member-table.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { OrgRole } from "../../src/lib/roles.ts";
import { Client, type Parsed, type Reply } from "./client.ts";

export interface Person {
  client: Client;
  membershipId: string;
  keyId: string;
}

/** The organization of one test. */
export interface World extends Person {
  /** The organization's ID. */
  id: string;
  accountId: string;
}

/** Creates an organization with an owner and a key of the owner. */
export async function newWorld(): Promise<World> {
  const { db } = openForWriting(env.DB);
  const person = {
    email: newEmail(),
    name: "Olive Owner",
    displayName: null,
    avatar: null,
    profile: {},
  };
  const account = toAccountRow(systemClock, person);
  const { created, statements } = await prepareOrganization(
    { db, clock: systemClock },
    { name: "Test", accountId: account.id },
  );
  await batch(db, { account: db.insert(accounts).values(account), ...statements });
  const { row, key } = created;
  const { organization, apiKey } = row;
  return {
    id: organization.id,
    accountId: account.id,
    membershipId: apiKey.membershipId,
    keyId: apiKey.id,
    client: new Client(key),
  };
}

/** Adds a member to the organization, with a key of its own, of the same role. */
export async function join(world: World, role: OrgRole = "member"): Promise<Person> {
  const { body: member } = await world.client.post(`/v1/orgs/${world.id}/members`, {
    email: newEmail(),
    name: "Molly Member",
    role,
  });
  return newKey(world, { membershipId: member.membership_id, role, isOwn: true });
}

type NewKeyFields = Pick<
  ApiKeyRow,
  | "membershipId"
  | "role"
  | "expiresAt"
  | "expiresByPolicy"
  | "scopes"
  | "projectIds"
  | "environmentIds"
  | "isOwn"
  | "createdByKeyId"
  | "createdByMembershipId"
>;

/** Adds a key, by default for the owner. Each key has its own rate limit. */
export async function newKey(world: World, fields: Partial<NewKeyFields> = {}): Promise<Person> {
  const issued = await issueApiKey(newId(systemClock));
  const { membershipId = world.membershipId, role = "owner", ...others } = fields;
  const isOwn = membershipId === world.membershipId;
  await insertKey(openForWriting(env.DB).db, {
    ...newKeyRow(issued, Date.now()),
    organizationId: world.id,
    membershipId,
    name: "test",
    role,
    isOwn,
    issuedByKeyId: others.createdByKeyId ?? null,
    ...others,
  });
  return { client: new Client(issued.key), membershipId, keyId: issued.id };
}

/** Below the quarter of a key's limit that is admitted while the rate limiter is slow to respond. */
const REQUESTS_PER_KEY = 20;

export const CREDENTIAL_KINDS = ["api_key", "session"] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/**
 * For tests that send many requests: each key has its own rate limit, and a new key for every request
 * would double their work.
 */
export class SharedKeys {
  readonly #world: World;
  readonly #fields: Partial<NewKeyFields>;
  readonly #credential: CredentialKind;
  #caller: Promise<Person> | undefined;
  #requests = 0;

  constructor(
    world: World,
    fields: Partial<NewKeyFields> = {},
    credential: CredentialKind = "api_key",
  ) {
    this.#world = world;
    this.#fields = fields;
    this.#credential = credential;
  }

  /** For one request. */
  async next(): Promise<Client> {
    if (!this.#caller || this.#requests % REQUESTS_PER_KEY === 0) this.#caller = this.#create();
    this.#requests += 1;
    return (await this.#caller).client;
  }

  async #create(): Promise<Person> {
    const key = await newKey(this.#world, this.#fields);
    return this.#credential === "session" ? signIn(key) : key;
  }
}

/** An open invitation, with the token of its link. */
export async function newInvitation(
  world: World,
  fields: { email?: string; name?: string; role?: OrgRole } = {},
): Promise<Parsed> {
  const body = { email: newEmail(), role: "member", ...fields };
  const reply = await world.client.post(`/v1/orgs/${world.id}/invitations`, body);
  if (reply.status !== 201) throw new Error(`The invitation was not created: ${reply.text}`);
  return { ...reply.body, token: String(reply.body.url.split("/").at(-1)) };
}

/** Accepts an invitation: a member with a key of their own. */
export async function accept(
  world: World,
  fields: Parameters<typeof newInvitation>[1] = {},
): Promise<World> {
  const { token } = await newInvitation(world, fields);
  const { body } = await new Client(undefined).post("/v1/invitations/accept", { token });
  const { membership, api_key } = body;
  return {
    id: world.id,
    accountId: membership.account_id,
    membershipId: membership.membership_id,
    keyId: api_key.id,
    client: new Client(api_key.key),
  };
}

/** Inserts memberships of an address in new organizations, as if strangers had added it. Returns their IDs. */
export async function addToOrganizations(
  email: string,
  count: number,
  fields: { signedInAt?: number; status?: string } = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId(systemClock));
  const { signedInAt = null, status = "active" } = fields;
  const json = JSON.stringify(ids);
  const now = Date.now();
  await env.DB.batch([
    env.DB.prepare(
      `insert into organizations (id, name, created_at, updated_at)
        select value, 'Stranger ' || key, ?2, ?2 from json_each(?1)`,
    ).bind(json, now - 1),
    env.DB.prepare(
      "insert into accounts select value, value, 'x', 'x', null, '{}', 0, 0, 1 from json_each(?1)",
    ).bind(json),
    env.DB.prepare(
      `insert into memberships (id, organization_id, account_id, role, status, email, signed_in_at,
        created_at, updated_at)
        select value, value, value, 'member', ?2, ?3, ?4, ?5 + key, 0 from json_each(?1)`,
    ).bind(json, status, email, signedInAt, now),
  ]);
  return ids;
}

/** Signs in with the key of a caller. Returns a caller with the cookie of the session. */
export async function signIn<Caller extends { client: Client }>(
  caller: Caller,
): Promise<Caller & { sessionId: string }> {
  const { key } = caller.client;
  const reply = await new Client(undefined).post("/v1/sessions", { api_key: key });
  if (reply.status !== 201) throw new Error(`The session was not created: ${reply.text}`);
  const client = Client.withSession(sessionIn(reply));
  return { ...caller, client, sessionId: reply.body.id };
}

/** Inserts active sessions of the membership of a key. */
export async function addSessions({ keyId }: Pick<Person, "keyId">, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => newId(systemClock));
  const now = Date.now();
  await env.DB.prepare(
    `insert into sessions (id, organization_id, membership_id, source, key_id, secret_hash,
       created_at, expires_at)
     select item.value, organization_id, membership_id, 'api_key', api_keys.id, item.value, ?3, ?4
     from api_keys join json_each(?1) as item where api_keys.id = ?2`,
  )
    .bind(JSON.stringify(ids), keyId, now, now + 3_600_000)
    .run();
}

/** The secret of the session that a response starts. */
export function sessionIn({ headers }: Pick<Reply, "headers">): string {
  const [, secret = ""] = /^[^=]+=([^;]*);/.exec(headers.get("set-cookie") ?? "") ?? [];
  return secret;
}

/** The first one of an organization is `storefront`, unless the fields have a name. */
export async function newProject(client: Client, fields: object = {}): Promise<Parsed> {
  const create = (name: string) => client.post("/v1/projects", { name, ...fields });
  const reply = await create("storefront");
  if (reply.status === 201 || "name" in fields) return reply.body;
  return (await create(`storefront-${crypto.randomUUID()}`)).body;
}

/** Creates a component, a stack and a variable; returns the IDs by their path parameters. */
export async function newInside(
  client: Client,
  environmentId: string,
): Promise<Record<string, string>> {
  const environment = `/v1/environments/${environmentId}`;
  const post = async (path: string, body: object) =>
    (await client.post(`${environment}/${path}`, { name: `n-${crypto.randomUUID()}`, ...body }))
      .body.id;
  return {
    environment_id: environmentId,
    component_id: await post("components", { kind: "service" }),
    stack_id: await post("stacks", {}),
    variable_id: await post("variables", { name: "A", storage_method: "string", value: "a" }),
  };
}

export interface Pool {
  id: string;
  tokenId: string;
  /** Authenticates with the pool's token. */
  runner: Client;
}

export async function newPool(world: World, environmentIds: readonly string[]): Promise<Pool> {
  const { client } = await newKey(world);
  const pools = `/v1/orgs/${world.id}/runner-pools`;
  const body = { name: `n-${crypto.randomUUID()}`, environment_ids: environmentIds };
  const { body: pool } = await client.post(pools, body);
  const { body: token } = await client.post(`${pools}/${pool.id}/tokens`, { name: "test" });
  return { id: pool.id, tokenId: token.id, runner: new Client(token.token) };
}

/** Adds a token to a pool. Each token has its own rate limit. */
export async function newToken(world: World, pool: Pick<Pool, "id">): Promise<Pool> {
  const { key, ...issued } = await issueRunnerToken(newId(systemClock));
  const token = { ...issued, organizationId: world.id, poolId: pool.id, name: "test" };
  const creator = { createdByKeyId: null, createdByMembershipId: null, issuedByKeyId: null };
  const origin = { ...creator, createdBySessionId: null, rotatedByKeyId: null, trustId: null };
  const times = { createdAt: Date.now(), expiresAt: null };
  await insertToken(openForWriting(env.DB).db, { ...token, ...origin, ...times });
  return { id: pool.id, tokenId: issued.id, runner: new Client(key) };
}

/** Returns the ID of its membership. */
export async function newServiceAccount(world: World, role: OrgRole = "member"): Promise<string> {
  const body = { name: `bot-${crypto.randomUUID()}`, role };
  const reply = await world.client.post(`/v1/orgs/${world.id}/service-accounts`, body);
  if (reply.status !== 201) throw new Error(`The service account was not created: ${reply.text}`);
  return reply.body.membership_id;
}

/** Inserts a trust and a used token, without asking its issuer for keys. */
export async function newTrust(
  world: World,
  target: { membershipId: string } | { poolId: string },
  fields: Partial<TrustRow> = {},
): Promise<string> {
  const { db } = openForWriting(env.DB);
  const isOfPool = "poolId" in target;
  const { createdByKeyId = world.keyId } = fields;
  const trust: TrustRow = {
    id: newId(systemClock),
    organizationId: world.id,
    name: "deploy workflow",
    issuer: "https://token.actions.githubusercontent.com",
    audience: "https://longshore.example.com",
    conditions: { repository_id: "74", environment: "production" },
    membershipId: isOfPool ? null : target.membershipId,
    poolId: isOfPool ? target.poolId : null,
    role: isOfPool ? null : "member",
    scopes: null,
    projectIds: null,
    environmentIds: null,
    ttlSeconds: 900,
    createdByKeyId,
    createdByMembershipId: world.membershipId,
    issuedByKeyId: createdByKeyId,
    createdBySessionId: null,
    createdAt: Date.now(),
    ...fields,
  };
  const used = { organizationId: world.id, id: newId(systemClock) };
  await batch(db, {
    trust: insertTrust(db, trust),
    used: insertUsedToken(db, trust.id, { ...used, expiresAt: Date.now() + 600_000 }),
  });
  return trust.id;
}

export const CONNECTION = { provider: "aws", account_id: "123456789012", region: "eu-central-1" };

export async function connect(client: Client, projectId: string): Promise<void> {
  await client.put(`/v1/projects/${projectId}/connection`, CONNECTION);
}

/** A connected project, with a runner pool for its default environment. */
export async function newDeployableProject(
  world: World,
): Promise<{ project: Parsed; environmentId: string; pool: Pool }> {
  const project = await newProject(world.client);
  const environmentId: string = project.default_environment_id;
  await connect(world.client, project.id);
  const pool = await newPool(world, [environmentId]);
  return { project, environmentId, pool };
}

/** Returns the ID of a new stack. */
export async function newStack(
  client: Client,
  environmentId: string,
  name = "web",
): Promise<string> {
  const reply = await client.post(`/v1/environments/${environmentId}/stacks`, { name });
  if (reply.status !== 201) throw new Error(`The stack was not created: ${reply.text}`);
  return reply.body.id;
}

/** Creates a stack first if the environment has none. */
export async function newDeployment(
  client: Client,
  environmentId: string,
  body: object = {},
): Promise<Parsed> {
  const create = () => client.post(`/v1/environments/${environmentId}/deployments`, body);
  let reply = await create();
  if (reply.body.message?.includes("no stacks")) {
    await newStack(client, environmentId);
    reply = await create();
  }
  if (reply.status !== 201) throw new Error(`The deployment was not created: ${reply.text}`);
  return reply.body;
}

/** Inserts a resource as a runner's report would. */
export async function newResource(stackId: string): Promise<string> {
  const id = newId(systemClock);
  await env.DB.prepare(
    `insert into resources select ?1, organization_id, project_id, environment_id, id, ?1, 'p',
       'AWS::S3::Bucket', 'CREATE_COMPLETE', null, 1, 2, 3 from stacks where id = ?2`,
  )
    .bind(id, stackId)
    .run();
  return id;
}

/** The address that a person is a member with. */
export async function addressOf({ membershipId }: Pick<Person, "membershipId">): Promise<string> {
  const email = await env.DB.prepare("select email from memberships where id = ?")
    .bind(membershipId)
    .first<string>("email");
  return String(email);
}

/** The account of a membership. */
export async function accountOf({ membershipId }: Pick<Person, "membershipId">): Promise<string> {
  const select = env.DB.prepare("select account_id from memberships where id = ?");
  return String(await select.bind(membershipId).first<string>("account_id"));
}

export function newEmail(): string {
  return `${newId(systemClock)}@example.com`.toLowerCase();
}
