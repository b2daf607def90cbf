import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, toPage } from "../../../db/keyset.ts";
import type { ChangelogPage, EntryRow } from "./store.ts";
import * as store from "./store.ts";

export async function listChangelog(
  ctx: ServiceContext,
  projectId: string,
  page: ChangelogPage,
): Promise<Page<EntryRow>> {
  const { db, actor } = ctx;
  const { projects, rows } = await batch(db, {
    projects: store.findProject(db, actor, projectId),
    rows: store.listEntries(db, actor.organizationId, projectId, page),
  });
  authorize(actor, "project", projects[0], "viewer");
  return toPage(page, rows, (row) => row);
}
