import { env } from "cloudflare:workers";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { beforeAll, describe, expect, it } from "vitest";
import { openForWriting } from "../../src/db/client.ts";
import { Ownership } from "../../src/db/ownership.ts";
import { listPurges } from "../../src/features/housekeeping/purge/organization-store.ts";
import { FEATURES } from "../../src/features/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { QUOTAS } from "../../src/lib/resource-types.ts";
import { Client } from "../support/client.ts";
import { FullOrganization } from "../support/full-organization.ts";
import { Instrumented, UNUSABLE } from "../support/instruments.ts";
import {
  accept,
  connect,
  join,
  newDeployment,
  newInside,
  newIntegration,
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

const TABLES = FEATURES.flatMap(({ tables = [] }) => tables);
const OWNERSHIP = new Ownership(TABLES);

const ofOrganizations = TABLES.map(({ table, outlivesOrganization }) => {
  const { name, columns } = getTableConfig(table);
  const names = columns.map((column) => column.name);
  return { name, names, outlivesOrganization };
}).filter(({ names }) => names.includes("organization_id"));

const remaining = ofOrganizations.filter((each) => each.outlivesOrganization === undefined);

async function rowsIn(name: string, id: string): Promise<object[]> {
  const select = env.DB.prepare(`select * from ${name} where organization_id = ?`).bind(id);
  return (await select.all<Record<string, unknown>>()).results;
}

/** The number of rows of an organization, by table. */
async function countRows(id: string): Promise<Record<string, number>> {
  const counts = remaining.map(
    async ({ name }) => [name, (await rowsIn(name, id)).length] as const,
  );
  return Object.fromEntries(await Promise.all(counts));
}

/** All rows of an organization, by table, without what a use and a sweep change. */
async function dump(id: string): Promise<Record<string, object[]>> {
  const tables = ofOrganizations.map(async ({ name }) => {
    const rows = await rowsIn(name, id);
    return [name, rows.map((row) => ({ ...row, last_used_at: null, evaluated_at: null }))] as const;
  });
  return Object.fromEntries(await Promise.all(tables));
}

const sum = (counts: Record<string, number>) =>
  Object.values(counts).reduce((total, count) => total + count, 0);

async function rowWith(table: string, id: string): Promise<Record<string, unknown> | null> {
  return env.DB.prepare(`select * from ${table} where id = ?`).bind(id).first();
}

const purgesOf = async (id: string) => {
  const select = env.DB.prepare("select record_type from purges where organization_id = ?");
  return (await select.bind(id).all<{ record_type: string }>()).results;
};

/** Late enough for the purge to know that no request inserts rows any more. */
const settled = () => ({ now: () => Date.now() + LIMITS.purgeSettlesMs.value + 60_000 });

async function purge(): Promise<void> {
  await new Instrumented().sweep();
  await endPurge();
}

async function endPurge(): Promise<void> {
  // The first run finds the memberships, the second no rows.
  await new Instrumented({ clock: settled() }).sweep();
  await new Instrumented({ clock: settled() }).sweep();
}

/** Memberships stay until the end. */
async function countPurged(id: string): Promise<number> {
  const { memberships: _, ...purged } = await countRows(id);
  return sum(purged);
}

async function endDeployments(id: string): Promise<void> {
  const ends = [
    "update deployments set status = 'failed', announced = 'failed' where organization_id = ?",
    "update attempts set state = 'ended' where organization_id = ?",
  ];
  await env.DB.batch(ends.map((sql) => env.DB.prepare(sql).bind(id)));
}

const path = ({ id }: Pick<World, "id">) => `/v1/orgs/${id}`;

/** A database that loses the connection after the first batch that deletes rows. */
function failingAfterDeletion(): D1Database {
  let isLost = false;
  return watchBatches((results) => {
    if (isLost) throw new Error("D1_ERROR: Network connection lost.");
    isLost ||= results.some(({ meta }) => meta.changes > 0);
  });
}

function watchBatches(watch: (results: D1Result[]) => void): D1Database {
  const { withSession } = env.DB;
  const open = (constraint: string) => {
    const session = withSession.call(env.DB, constraint);
    return {
      prepare: (sql: string) => session.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        watch([]);
        const results = await session.batch(statements);
        watch(results);
        return results;
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession: open } as unknown as D1Database;
}

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

/** Deleted a minute ago, with a membership and the mark of the purge. Returns their IDs. */
async function addDeletedOrganizations(
  count: number,
  { withProject }: { withProject: boolean },
): Promise<string[]> {
  const { accountId } = await newWorld();
  const createdAt = Date.now() - 60_000;
  const ids = Array.from({ length: count }, () => newId({ now: () => createdAt }));
  const statements = [
    `insert into organizations (id, name, created_at, updated_at)
       select value, char(127) || value, ?2, ?2 from json_each(?1) where ?3 is not null`,
    `insert into memberships (id, organization_id, account_id, role, created_at, updated_at)
       select value, value, ?3, 'owner', ?2, ?2 from json_each(?1)`,
    `insert into purges select value, value, 'organization', value, ?2 from json_each(?1)
       where ?3 is not null`,
    ...(withProject
      ? [
          `insert into projects (id, organization_id, name, default_environment_id,
               connection_status, created_at, updated_at)
             select value, value, 'p', value, 'disconnected', ?2, ?2 from json_each(?1)
             where ?3 is not null`,
        ]
      : [
          `delete from usage where organization_id in (select value from json_each(?1))
             and ?2 = ?2 and ?3 = ?3`,
        ]),
  ];
  await env.DB.batch(
    statements.map((each) => env.DB.prepare(each).bind(JSON.stringify(ids), createdAt, accountId)),
  );
  return ids;
}

async function rowsOf(table: string, organizationIds: string[]): Promise<number> {
  const select = `select count(*) as n from ${table}
    where organization_id in (select value from json_each(?))`;
  const counted = env.DB.prepare(select).bind(JSON.stringify(organizationIds));
  return (await counted.first<number>("n")) ?? 0;
}

/** At most `times`. */
async function repeatWhileLeft(
  times: number,
  table: string,
  organizationIds: string[],
  act: () => Promise<void>,
): Promise<void> {
  for (let run = 0; run < times && (await rowsOf(table, organizationIds)) > 0; run += 1)
    await act();
}

describe("the deletion of an organization", () => {
  it("needs an owner", async () => {
    const world = await newWorld();
    const { client } = await join(world, "admin");
    expect((await client.delete(path(world))).body.code).toBe("unauthorized");
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
      const refused = await world.client.delete(path(world));
      expect(refused).toMatchObject({ status: 409, body: { code: "conflict" } });
      expect(await countRows(world.id)).toEqual(before);
      expect((await world.client.get(path(world))).body.name).toBe("Test");
      await set.bind("failed", deployment.id).run();
      expect((await world.client.delete(path(world))).status).toBe(204);
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
    expect((await world.client.delete(path(world))).status).toBe(204);
    for (const client of cached) expect((await client.get("/v1/whoami")).status).toBe(401);
    expect((await claim()).status).toBe(401);
    expect((await world.client.delete(path(world))).status).toBe(401);
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
    expect((await world.client.delete(path(world))).status).toBe(204);
    expect(await count()).toEqual([0, 0, 0, 0, 0, 0]);
    expect(await rowWith("integrations", integration.id)).toMatchObject({ url: "", secret: null });
    const accepted = await new Client(undefined).post("/v1/invitations/accept", { token });
    expect(accepted.status).toBe(404);
  });

  it("lets no request that was in progress give access", async () => {
    const world = await newWorld();
    const { token, id } = await newInvitation(world);
    const invitation = await rowWith("invitations", id);
    expect((await world.client.delete(path(world))).status).toBe(204);
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
    expect((await world.client.via(isolate.fetch).delete(path(world))).status).toBe(204);
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
      const { status } = await new Client(body.api_key.key).delete(path(body));
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
    expect((await other.delete(path(second))).status).toBe(204);
    const successor = await accept(world, { role: "owner" });
    await newKey(world, { membershipId: successor.membershipId, role: "owner" });
    const { client } = await newKey(world, { isOwn: true });
    expect((await client.delete("/v1/account")).status).toBe(204);
  });
});

describe("the purge of a deleted organization", () => {
  let deleted: FullOrganization;
  let other: FullOrganization;

  beforeAll(async () => {
    [deleted, other] = [await FullOrganization.create(300), await FullOrganization.create(300)];
  });

  it("owns every table with an organization_id, or the manifest has the reason why not", () => {
    const roots = OWNERSHIP.rootsOfOrganization();
    const reached = roots.flatMap(({ table, owned }) => [
      table,
      ...owned.map((rows) => rows.table),
      ...owned.flatMap(({ childKeys }) => childKeys.map((key) => key.table)),
    ]);
    const names = new Set(reached.map((table) => getTableConfig(table as never).name));
    expect(remaining.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
    const kept = ofOrganizations.filter(({ outlivesOrganization }) => outlivesOrganization);
    expect(kept.map(({ name }) => name).toSorted()).toEqual(["bootstraps", "purges"]);
  });

  it("deletes all of its rows and no other's, in runs that end at any time", async () => {
    const { world } = deleted;
    await endDeployments(world.id);
    // What the purge deletes of both for other reasons.
    await purge();
    const unproven = await join(world);
    const proven = await newWorld();
    const both = { ...(await join(world)), accountId: proven.accountId };
    await env.DB.prepare("update memberships set account_id = ?1 where id = ?2")
      .bind(proven.accountId, both.membershipId)
      .run();
    const accountOf = async (membershipId: string) =>
      String((await rowWith("memberships", membershipId))?.["account_id"]);
    const unprovenAccount = await accountOf(unproven.membershipId);
    await env.DB.prepare("insert into used_sign_ins values (?1, ?2, ?3)")
      .bind(newId(systemClock), world.id, Number.MAX_SAFE_INTEGER)
      .run();
    const counts = await countRows(world.id);
    const empty = Object.entries(counts).filter(([, count]) => count === 0);
    expect(empty.map(([name]) => name)).toEqual(["limit_checks"]);
    const neighbor = await dump(other.world.id);
    const { client } = await newKey(world);
    expect((await client.delete(path(world))).status).toBe(204);

    const left = [await countPurged(world.id)];
    for (let run = 0; left.at(-1) !== 0 && run < 200; run += 1) {
      const isolate = new Instrumented({ database: failingAfterDeletion() });
      await isolate.sweep().catch(() => undefined);
      left.push(await countPurged(world.id));
    }
    expect(left).toEqual(left.toSorted((a, b) => b - a));
    expect(left.length).toBeGreaterThan(20);
    expect(left.at(-1)).toBe(0);
    expect(await purgesOf(world.id)).toContainEqual({ record_type: "organization" });
    expect((await countRows(world.id))["memberships"]).toBeGreaterThan(0);
    await purge();
    expect(sum(await countRows(world.id))).toBe(0);
    expect(await purgesOf(world.id)).toEqual([]);
    expect(await rowWith("organizations", world.id)).toMatchObject({ name: `\x7f${world.id}` });
    expect(await dump(other.world.id)).toEqual(neighbor);
    expect((await other.world.client.get("/v1/whoami")).status).toBe(200);
    expect(await rowWith("accounts", unprovenAccount)).toBeNull();
    expect(await rowWith("accounts", world.accountId)).not.toBeNull();
    expect(await rowWith("accounts", proven.accountId)).not.toBeNull();
    expect((await proven.client.get("/v1/account")).status).toBe(200);
  });

  it("also deletes what requests in progress insert after it has begun, and then ends", async () => {
    const world = await newWorld();
    const project = await newProject(world.client);
    expect((await world.client.delete(path(world))).status).toBe(204);
    const insert = env.DB.prepare(
      `insert into environments (id, organization_id, name, created_at, updated_at, project_id, configuration)
        values (?1, ?2, 'late', 1, 1, ?3, '{}')`,
    );
    await insert.bind(newId(systemClock), world.id, project.id).run();
    await new Instrumented().sweep();
    expect(await countPurged(world.id)).toBe(0);
    const late = newId(systemClock);
    await env.DB.batch([
      env.DB.prepare(
        "insert into accounts select ?1, ?1, name, display_name, avatar, profile, 1, 1, 1 from accounts where id = ?2",
      ).bind(late, world.accountId),
      env.DB.prepare(
        "insert into memberships (id, organization_id, account_id, role, created_at, updated_at) values (?1, ?2, ?1, 'owner', 1, 1)",
      ).bind(late, world.id),
    ]);
    await new Instrumented({ clock: settled() }).sweep();
    expect(sum(await countRows(world.id))).toBe(0);
    expect(await rowWith("accounts", late)).toBeNull();
    expect(await purgesOf(world.id)).toHaveLength(1);
    await new Instrumented({ clock: settled() }).sweep();
    expect(await purgesOf(world.id)).toEqual([]);
  });

  it("deletes at most 500 rows with a statement", async () => {
    const world = await newWorld();
    const source = "select * from audit_log where organization_id = ?2 limit 1";
    await join(world);
    const columns = Object.keys((await rowsIn("audit_log", world.id))[0] ?? {});
    const ids = Array.from({ length: 1200 }, () => newId(systemClock));
    await env.DB.prepare(
      `insert into audit_log select ${columns.map((name) => (name === "id" ? "item.value" : `source.${name}`))}
        from json_each(?1) as item join (${source}) as source`,
    )
      .bind(JSON.stringify(ids), world.id)
      .run();
    expect((await world.client.delete(path(world))).status).toBe(204);
    const changes: number[] = [];
    const database = watchBatches((results) => {
      changes.push(...results.map(({ meta }) => meta.changes));
    });
    await new Instrumented({ database }).sweep();
    expect(await countPurged(world.id)).toBe(0);
    expect(Math.max(...changes)).toBe(LIMITS.purgeRows.value);
  });

  it("holds up no record of another tenant, nor the retention, however many are deleted", async () => {
    const deletedIds = await addDeletedOrganizations(120, { withProject: true });
    const world = await newWorld();
    const kept = await newProject(world.client);
    const project = await newProject(world.client);
    expect((await world.client.delete(`/v1/projects/${project.id}`)).status).toBe(204);
    expect(await rowWith("projects", project.id)).not.toBeNull();
    await new Instrumented().sweep();
    expect(await rowWith("projects", project.id)).toBeNull();
    expect(await rowWith("projects", kept.id)).not.toBeNull();
    await repeatWhileLeft(9, "projects", deletedIds, () => new Instrumented().sweep());
    expect(await rowsOf("projects", deletedIds)).toBe(0);
    expect(await rowsOf("memberships", deletedIds)).toBe(120);
    await repeatWhileLeft(9, "purges", deletedIds, endPurge);
    expect(await rowsOf("memberships", deletedIds)).toBe(0);
    expect(await rowsOf("purges", deletedIds)).toBe(0);
  });

  it("does not wait for those that only wait for requests in progress", async () => {
    await addDeletedOrganizations(120, { withProject: false });
    const world = await newWorld();
    await newProject(world.client);
    expect((await world.client.delete(path(world))).status).toBe(204);
    await new Instrumented().sweep();
    expect(await countPurged(world.id)).toBe(0);
  });

  it("comes in a random order, so that it does not wait for those before it", async () => {
    await addDeletedOrganizations(30, { withProject: true });
    const list = async () => {
      const listed = await listPurges(openForWriting(env.DB).db, OWNERSHIP.rootsOfOrganization(), {
        settledAt: 0,
        limit: 30,
      });
      return listed.map(({ id }) => id);
    };
    const [first, second] = [await list(), await list()];
    expect(first).toHaveLength(30);
    expect(second).not.toEqual(first);
  });
});
