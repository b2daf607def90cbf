import { operation } from "../../../http/operation.ts";
import { toPageRequest } from "../../../http/pagination.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentEntry } from "./presenters.ts";
import { ChangelogQuery } from "./schemas.ts";
import { listChangelog } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/projects/{project_id}/changelog",
  operationId: "listChangelog",
  polled: true,
  presentEach: presentEntry,
  scope: "projects:read",
  request: () => ({ params: ProjectParams(), query: ChangelogQuery() }),
});

export const changelogRoutes = createRouter<Documented>().handle(list, ({ ctx, params, query }) =>
  listChangelog(ctx, params.project_id, {
    ...toPageRequest(query),
    actorName: query.actor_name,
    resourceName: query.record_name,
  }),
);
