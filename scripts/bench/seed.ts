import { drizzle } from "drizzle-orm/d1";
import type { Actor } from "../../src/context.ts";
import type { Database } from "../../src/db/client.ts";
import { accounts, apiKeys, memberships, organizations } from "../../src/db/schema.ts";
import { issueApiKey } from "../../src/features/api-keys/format.ts";
import { findProject, insertProject, type ProjectRow } from "../../src/features/projects/store.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { IssuedKey } from "../../src/lib/credentials.ts";
import { newId } from "../../src/lib/ids.ts";
import { migrate } from "../workers.ts";

/** One project, its owner, and keys of that owner. */
export interface Seed {
  actor: Actor;
  project: ProjectRow;
  keys: readonly IssuedKey[];
}

export async function makeSeed(keyCount: number): Promise<Seed> {
  const now = systemClock.now();
  const id = () => newId(systemClock);
  const organizationId = id();
  const keys = await Promise.all(Array.from({ length: keyCount }, () => issueApiKey(id())));
  const actor = { keyId: "", organizationId, membershipId: id(), accountId: id(), role: "owner" };
  const project = {
    id: id(),
    organizationId,
    name: "storefront",
    description: "The shop and its API.",
    icon: "emoji:🚢",
    repoId: null,
    defaultEnvironmentId: id(),
    connectionStatus: "disconnected",
    createdAt: now,
    updatedAt: now,
  };
  return { actor, project, keys } as Seed;
}

/** Every migration, and then the seed. */
export async function fill(d1: D1Database, seed: Seed): Promise<void> {
  await migrate(d1);
  const db = drizzle(d1);
  await db.batch([...insertOwner(db, seed), ...insertKeys(db, seed)]);
  await db.batch(
    insertProject(db, seed.project, {
      environmentName: "production",
      ownerId: seed.actor.membershipId,
    }),
  );
}

/** The statement with which the service reads the project, and what it binds. */
export function projectRead({ actor, project }: Seed) {
  const never = drizzle({} as D1Database);
  const { sql, params } = findProject(never, actor, project.id).toSQL();
  return { sql, parameters: params.map(String) };
}

function insertOwner(db: Database, { actor, project }: Seed) {
  const { accountId, membershipId, organizationId } = actor;
  const times = { createdAt: project.createdAt, updatedAt: project.updatedAt };
  return [
    db.insert(organizations).values({ id: organizationId, name: "Acme", ...times }),
    db.insert(accounts).values({
      id: accountId,
      email: "owner@example.com",
      name: "owner",
      displayName: "Owner",
      profile: {},
      ...times,
    }),
    db
      .insert(memberships)
      .values({ id: membershipId, organizationId, accountId, role: "owner", ...times }),
  ] as const;
}

function insertKeys(db: Database, { actor, project, keys }: Seed) {
  return keys.map(({ id, secretHash, lastFour }) =>
    db.insert(apiKeys).values({
      id,
      organizationId: actor.organizationId,
      membershipId: actor.membershipId,
      name: "bench",
      role: "owner",
      secretHash,
      lastFour,
      createdAt: project.createdAt,
    }),
  );
}
