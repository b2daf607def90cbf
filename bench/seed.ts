import { drizzle } from "drizzle-orm/d1";
import { applyMigrations } from "../scripts/lib/migrations.ts";
import type { Actor } from "../src/actor.ts";
import type { IssuedKey } from "../src/auth/credentials.ts";
import { batch } from "../src/db/batch.ts";
import type { Database } from "../src/db/client.ts";
import { issueApiKey } from "../src/features/identity/api-keys/credentials.ts";
import { apiKeys } from "../src/features/identity/credentials/api-key-table.ts";
import {
  findProject,
  insertProject,
  type ProjectRow,
} from "../src/features/projects/projects/store.ts";
import { accounts, memberships } from "../src/features/tenancy/member-table.ts";
import { organizations } from "../src/features/tenancy/organization-table.ts";
import { systemClock } from "../src/lib/clock.ts";
import { newId } from "../src/lib/ids.ts";
import type { OrgRole } from "../src/lib/roles.ts";

/** One project, its owner, and keys of that owner. */
export interface Seed {
  actor: Actor;
  project: ProjectRow;
  keys: readonly IssuedKey[];
}

export async function makeSeed(keyCount: number): Promise<Seed> {
  const organizationId = newId(systemClock);
  const keys = await issueKeys(keyCount);
  const project = makeProject(organizationId, "storefront");
  return { actor: makeActor(organizationId, "owner"), project, keys };
}

export function issueKeys(count: number): Promise<IssuedKey[]> {
  return Promise.all(Array.from({ length: count }, () => issueApiKey(newId(systemClock))));
}

export function makeActor(organizationId: string, role: OrgRole): Actor {
  const id = () => newId(systemClock);
  const ids = { keyId: "", organizationId, membershipId: id(), accountId: id() };
  const creator = { createdByKeyId: null, createdByMembershipId: null };
  const boundaries = { scopes: null, projectIds: null, environmentIds: null };
  return { ...ids, ...creator, ...boundaries, role, isOwnKey: true, isFull: true, expiresAt: null };
}

export function makeProject(organizationId: string, name: string): ProjectRow {
  const now = systemClock.now();
  return {
    id: newId(systemClock),
    organizationId,
    name,
    description: "The shop and its API.",
    icon: "emoji:🚢",
    repoId: null,
    defaultEnvironmentId: newId(systemClock),
    connectionStatus: "disconnected",
    disconnectedAt: null,
    disconnectedBy: null,
    createdAt: now,
    updatedAt: now,
    version: 1,
  };
}

/** Applies all migrations, then inserts the seeds. */
export async function migrateAndInsert(d1: D1Database, ...seeds: readonly Seed[]): Promise<void> {
  await applyMigrations(d1);
  for (const seed of seeds) await insertSeed(d1, seed);
}

export async function insertSeed(d1: D1Database, { actor, project, keys }: Seed): Promise<void> {
  const db = drizzle(d1);
  const { organizationId: id, membershipId: ownerId } = actor;
  const { createdAt, updatedAt } = project;
  await db.batch([
    db.insert(organizations).values({ id, name: "Acme", createdAt, updatedAt }),
    ...insertPerson(db, actor),
    ...insertKeys(db, actor, keys),
  ]);
  await batch(db, insertProject(db, project, { environmentName: "production", ownerId }));
}

/** The statement with which the service reads the project, and its parameters. */
export function projectRead({ actor, project }: Seed) {
  const never = drizzle({} as D1Database);
  const { sql, params } = findProject(never, actor, project.id).toSQL();
  return { sql, parameters: params.map(String) };
}

export function insertPerson(db: Database, actor: Actor) {
  const { accountId, membershipId, organizationId, role } = actor;
  const now = systemClock.now();
  const times = { createdAt: now, updatedAt: now };
  return [
    db.insert(accounts).values({
      id: accountId,
      email: `${accountId}@example.com`.toLowerCase(),
      name: role,
      displayName: role,
      profile: {},
      ...times,
    }),
    db.insert(memberships).values({ id: membershipId, organizationId, accountId, role, ...times }),
  ] as const;
}

export function insertKeys(db: Database, actor: Actor, keys: readonly IssuedKey[]) {
  const { organizationId, membershipId, role } = actor;
  return keys.map(({ id, secretHash, lastFour }) =>
    db.insert(apiKeys).values({
      id,
      organizationId,
      membershipId,
      name: "bench",
      role,
      secretHash,
      lastFour,
      isOwn: true,
      createdAt: systemClock.now(),
    }),
  );
}
