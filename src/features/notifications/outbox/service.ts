import type { ServiceContext } from "../../../context.ts";
import { authorize } from "../../../context.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import type { EventFilter, EventRow } from "./store.ts";
import * as store from "./store.ts";

export async function listEvents(
  ctx: ServiceContext,
  projectId: string,
  filter: EventFilter,
  page: PageRequest,
): Promise<Page<EventRow>> {
  const { db, actor } = ctx;
  const [[project], found] = await db.batch([
    store.findProject(db, actor, projectId),
    store.listEvents(db, actor, projectId, filter, page),
  ]);
  authorize(actor, "project", project, "viewer");
  return toPage(page, found, (row) => row);
}
