import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { projectConnections } from "../../src/features/deployments/connections/table.ts";
import type { ProjectRow } from "../../src/features/projects/projects/store.ts";
import { projects } from "../../src/features/tenancy/project-table.ts";
import { stacks } from "../../src/features/tenancy/stack-table.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";

const STACKS = ["network", "database", "services", "frontend"];

/** A project with its default environment and the stacks of that environment. */
export interface SeededProject {
  organizationId: string;
  projectId: string;
  environmentId: string;
  stackIds: readonly string[];
}

/** Connects a project and adds stacks to its default environment. */
export async function connectAndAddStacks(
  d1: D1Database,
  project: ProjectRow,
  names: readonly string[] = STACKS,
): Promise<SeededProject> {
  const db = drizzle(d1);
  const now = systemClock.now();
  const { organizationId, id: projectId, defaultEnvironmentId: environmentId } = project;
  const common = { organizationId, projectId, createdAt: now, updatedAt: now };
  const rows = names.map((name) => ({
    ...common,
    id: newId(systemClock),
    environmentId,
    componentId: null,
    name,
  }));
  for (const row of rows) await db.insert(stacks).values(row);
  await db.batch([
    db.update(projects).set({ connectionStatus: "connected" }).where(eq(projects.id, projectId)),
    db.insert(projectConnections).values({
      ...common,
      provider: "aws",
      accountId: "123456789012",
      region: "eu-central-1",
    }),
  ]);
  return { organizationId, projectId, environmentId, stackIds: rows.map(({ id }) => id) };
}
