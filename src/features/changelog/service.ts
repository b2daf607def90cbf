import type { ServiceContext } from "../../context.ts";
import { authorize } from "../../context.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import type { EntryRow } from "./store.ts";
import * as store from "./store.ts";

export async function listChangelog(
  ctx: ServiceContext,
  projectId: string,
  page: PageRequest,
): Promise<Page<EntryRow>> {
  const { db, actor } = ctx;
  const [[project], rows] = await db.batch([
    store.findProject(db, actor, projectId),
    store.listEntries(db, actor.organizationId, projectId, page),
  ]);
  authorize(actor, "project", project, "viewer");
  return toPage(page, rows, (row) => row);
}
