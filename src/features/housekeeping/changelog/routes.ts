import { apiRoute } from "../../../http/api-route.ts";
import { toPageRequest } from "../../../http/pagination.ts";
import { ProjectParams } from "../../../http/params.ts";
import { json, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { presentEntry } from "./presenters.ts";
import { ChangelogEntryList, ChangelogQuery } from "./schemas.ts";
import { listChangelog } from "./service.ts";

const list = apiRoute({
  method: "get",
  path: "/v1/projects/{project_id}/changelog",
  operationId: "listChangelog",
  tags: ["Changelog"],
  summary: "List the changes to a project",
  description:
    `Returns the changes to the records of the project, who made them, and when. ` +
    "A change and its entry are written together. Records that are deleted with their parent have " +
    "no entries for that.",
  access: { scope: "projects:read", role: "viewer" },
  polled: true,
  request: { params: ProjectParams, query: ChangelogQuery },
  responses: { 200: json(ChangelogEntryList, "A page of entries.") },
  notFound: ["project"],
});

export const changelogRoutes = createRouter().openapi(list, (c) => {
  const query = c.req.valid("query");
  return page(
    c,
    (ctx) =>
      listChangelog(ctx, c.req.valid("param").project_id, {
        ...toPageRequest(query),
        actorName: query.actor_name,
        resourceName: query.record_name,
      }),
    presentEntry,
  );
});
