import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
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
  const { projects, found } = await batch(db, {
    projects: store.findProject(db, actor, projectId),
    found: store.listEvents(db, actor, projectId, filter, page),
  });
  authorize(actor, "project", projects[0], "viewer");
  return toPage(page, found, (row) => row);
}
