import { authorize, requireScope } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { DAY_MS } from "../../../lib/clock.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { findProject } from "../../projects/projects/index.ts";
import { type EnvironmentDaysRow, listEnvironmentDays } from "./store.ts";

/** As sent. */
const BYTES_OF_ENVIRONMENT = 250;
const BYTES_OF_DAY = 280;

/** Of the last days, today included. */
export async function listInsights(
  { db, actor, clock }: ServiceContext,
  projectId: string,
  days: number,
  request: PageRequest,
): Promise<Page<EnvironmentDaysRow>> {
  requireScope(actor, "environments:read");
  const most = Math.floor(LIMITS.pageBytes.value / (BYTES_OF_ENVIRONMENT + BYTES_OF_DAY * days));
  const page = { ...request, limit: Math.min(request.limit, most) };
  const since = Math.floor(clock.now() / DAY_MS) + 1 - days;
  const { found, rows } = await batch(db, {
    found: findProject(db, actor, projectId),
    rows: listEnvironmentDays(db, actor, projectId, { ...page, since }),
  });
  authorize(actor, "project", found[0], "viewer");
  return toPage(page, rows, (row) => row);
}
