import { drizzle } from "drizzle-orm/d1";
import {
  insertKeys,
  insertPerson,
  insertSeed,
  issueKeys,
  makeActor,
  makeProject,
  makeSeed,
} from "../../bench/seed.ts";
import type { Actor } from "../../src/context.ts";
import { projectMembers } from "../../src/features/project-members/table.ts";
import { insertProject } from "../../src/features/projects/store.ts";
import type { Amounts } from "./history-size.ts";
import { seedDeployments } from "./deployments.ts";
import { furnish, type SeededProject } from "./projects.ts";
import { seedResources } from "./resources.ts";

const OTHERS = 20;
/** The member has a role in the first of the others, and in nothing else. */
const OTHERS_OF_MEMBER = 5;
/** What all others have together, as a share of what the first project has. */
const SHARE_OF_OTHERS = 0.1;

/** One project with many deployments and resources, and others with few. */
export interface SeededOrganization {
  owner: Actor;
  member: Actor;
  place: SeededProject;
}

export async function seedOrganization(
  d1: D1Database,
  amounts: Amounts,
): Promise<SeededOrganization> {
  const seed = await makeSeed(0);
  await insertSeed(d1, seed);
  const place = await furnish(d1, seed.project);
  const others = await addOthers(d1, seed.actor);
  const member = await addMember(d1, others.slice(0, OTHERS_OF_MEMBER));
  await seedDeployments(d1, place, amounts.deployments);
  await seedResources(d1, place, amounts.resources);
  for (const other of others) {
    await seedDeployments(d1, other, shareOf(amounts.deployments));
    await seedResources(d1, other, shareOf(amounts.resources));
  }
  return { owner: seed.actor, member, place };
}

/** So many fresh keys of somebody. */
export async function addKeys(d1: D1Database, actor: Actor, count: number): Promise<string[]> {
  const keys = await issueKeys(count);
  const [first, ...rest] = insertKeys(drizzle(d1), actor, keys);
  if (first) await drizzle(d1).batch([first, ...rest]);
  return keys.map(({ key }) => key);
}

function shareOf(amount: number): number {
  return Math.ceil((amount * SHARE_OF_OTHERS) / OTHERS);
}

async function addOthers(d1: D1Database, owner: Actor): Promise<SeededProject[]> {
  const db = drizzle(d1);
  const places: SeededProject[] = [];
  for (let number = 1; number <= OTHERS; number += 1) {
    const project = makeProject(owner.organizationId, `service-${number}`);
    const first = { environmentName: "production", ownerId: owner.membershipId };
    await db.batch(insertProject(db, project, first));
    places.push(await furnish(d1, project));
  }
  return places;
}

async function addMember(d1: D1Database, places: readonly SeededProject[]): Promise<Actor> {
  const db = drizzle(d1);
  const [organizationId = ""] = places.map((place) => place.organizationId);
  const member = makeActor(organizationId, "member");
  const { membershipId } = member;
  const rows = places.map(({ projectId }) => {
    const times = { createdAt: Date.now(), projectCreatedAt: Date.now() };
    return { projectId, membershipId, organizationId, role: "viewer" as const, ...times };
  });
  await db.batch([...insertPerson(db, member), db.insert(projectMembers).values(rows)]);
  return member;
}
