import { createRoute } from "@hono/zod-openapi";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { ProjectParams } from "../../http/params.ts";
import { API_KEY, ERROR_REPLIES, jsonReply, NEEDS } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { presentEntry } from "./presenters.ts";
import { ChangelogEntryList } from "./schemas.ts";
import { listChangelog } from "./service.ts";

const list = createRoute({
  method: "get",
  path: "/v1/projects/{project_id}/changelog",
  operationId: "listChangelog",
  tags: ["Changelog"],
  summary: "List the changes to a project",
  description:
    `${NEEDS.viewer} Each entry is written in the same transaction as its change. The records that ` +
    "are deleted with another record have no entry.",
  security: API_KEY,
  request: { params: ProjectParams, query: ListQuery },
  responses: { 200: jsonReply(ChangelogEntryList, "A page of entries."), ...ERROR_REPLIES },
});

export const changelogRoutes = createRouter().openapi(list, async (c) => {
  const page = toPageRequest(c.req.valid("query"));
  const entries = await listChangelog(c.env, c.req.valid("param").project_id, page);
  return c.json(toEnvelope(entries, presentEntry), 200);
});
