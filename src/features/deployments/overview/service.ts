import { authorize, requireScope } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { findProject, type ProjectRow } from "../../projects/projects/index.ts";
import { type EnvironmentOverviewRow, listEnvironmentOverviews } from "./store.ts";

export async function getProjectOverview(
  { db, actor }: ServiceContext,
  projectId: string,
  page: PageRequest,
): Promise<{ project: ProjectRow; environments: Page<EnvironmentOverviewRow> }> {
  requireScope(actor, "environments:read");
  requireScope(actor, "deployments:read");
  const { found, rows } = await batch(db, {
    found: findProject(db, actor, projectId),
    rows: listEnvironmentOverviews(db, actor, projectId, page),
  });
  const project = authorize(actor, "project", found[0], "viewer");
  return { project, environments: toPage(page, rows, (row) => row) };
}
