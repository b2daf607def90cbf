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
import type { Actor } from "../../src/actor.ts";
import { batch } from "../../src/db/batch.ts";
import { insertProject } from "../../src/features/projects/projects/store.ts";
import { organizations } from "../../src/features/tenancy/organization-table.ts";
import { projectMembers } from "../../src/features/tenancy/project-member-table.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { seedDeployments } from "./deployments.ts";
import type { HistorySize } from "./history-size.ts";
import { connectAndAddStacks, type SeededProject } from "./projects.ts";
import { seedResources } from "./resources.ts";

const SMALL_PROJECTS = 20;
/** Number of small projects in which the member has a role. */
const PROJECTS_OF_MEMBER = 5;
/** History of all small projects together, as a share of the large project's. */
const SHARE_OF_SMALL_PROJECTS = 0.1;

/** One large project, and small ones with little history. */
export interface SeededOrganization {
  owner: Actor;
  member: Actor;
  project: SeededProject;
}

export async function seedOrganization(
  d1: D1Database,
  size: HistorySize,
): Promise<SeededOrganization> {
  const seed = await makeSeed(0);
  await insertSeed(d1, seed);
  const project = await connectAndAddStacks(d1, seed.project);
  const others = await addSmallProjects(d1, seed.actor);
  const member = await addMember(d1, others.slice(0, PROJECTS_OF_MEMBER));
  await seedDeployments(d1, project, size.deployments);
  await seedResources(d1, project, size.resources);
  for (const other of others) {
    await seedDeployments(d1, other, shareOf(size.deployments));
    await seedResources(d1, other, shareOf(size.resources));
  }
  return { owner: seed.actor, member, project };
}

/** Creates an organization that has nothing but an owner. */
export async function seedOwner(d1: D1Database, { name }: { name: string }): Promise<Actor> {
  const db = drizzle(d1);
  const owner = makeActor(newId(systemClock), "owner");
  const now = systemClock.now();
  await db.batch([
    db
      .insert(organizations)
      .values({ id: owner.organizationId, name, createdAt: now, updatedAt: now }),
    ...insertPerson(db, owner),
  ]);
  return owner;
}

/** Creates API keys for a member. */
export async function addKeys(d1: D1Database, actor: Actor, count: number): Promise<string[]> {
  const keys = await issueKeys(count);
  const [first, ...rest] = insertKeys(drizzle(d1), actor, keys);
  if (first) await drizzle(d1).batch([first, ...rest]);
  return keys.map(({ key }) => key);
}

function shareOf(amount: number): number {
  return Math.ceil((amount * SHARE_OF_SMALL_PROJECTS) / SMALL_PROJECTS);
}

async function addSmallProjects(d1: D1Database, owner: Actor): Promise<SeededProject[]> {
  const db = drizzle(d1);
  const projects: SeededProject[] = [];
  for (let number = 1; number <= SMALL_PROJECTS; number += 1) {
    const project = makeProject(owner.organizationId, `service-${number}`);
    const first = { environmentName: "production", ownerId: owner.membershipId };
    await batch(db, insertProject(db, project, first));
    projects.push(await connectAndAddStacks(d1, project));
  }
  return projects;
}

async function addMember(d1: D1Database, projects: readonly SeededProject[]): Promise<Actor> {
  const db = drizzle(d1);
  const [organizationId = ""] = projects.map((project) => project.organizationId);
  const member = makeActor(organizationId, "member");
  const { membershipId } = member;
  const rows = projects.map(({ projectId }) => {
    const times = { createdAt: Date.now(), projectCreatedAt: Date.now() };
    return { projectId, membershipId, organizationId, role: "viewer" as const, ...times };
  });
  await db.batch([...insertPerson(db, member), db.insert(projectMembers).values(rows)]);
  return member;
}
