import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { ProjectParams } from "../../http/params.ts";
import { jsonReply } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { presentEntry } from "./presenters.ts";
import { ChangelogEntryList } from "./schemas.ts";
import { listChangelog } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/projects/{project_id}/changelog",
  operationId: "listChangelog",
  tags: ["Changelog"],
  summary: "List the changes to a project",
  role: "viewer",
  polled: true,
  scope: "projects:read",
  description:
    `Returns the changes to the records of the project, who made them, and when. ` +
    "A change and its entry are written together. Records that are deleted with their parent have " +
    "no entries for that.",
  notFound: ["project"],
  request: { params: ProjectParams(), query: ListQuery() },
  responses: { 200: jsonReply(ChangelogEntryList(), "A page of entries.") },
});

export const changelogRoutes = createRouter().openapi(list, async (c) => {
  const page = toPageRequest(c.req.valid("query"));
  const entries = await listChangelog(c.env, c.req.valid("param").project_id, page);
  return c.json(toEnvelope(entries, presentEntry), 200);
});
