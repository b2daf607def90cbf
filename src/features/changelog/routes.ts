import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { ProjectParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentEntry } from "./presenters.ts";
import { listChangelog } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/projects/{project_id}/changelog",
  operationId: "listChangelog",
  polled: true,
  scope: "projects:read",
  request: () => ({ params: ProjectParams(), query: ListQuery() }),
});

export const changelogRoutes = createRouter<Documented>().openapi(list, async (c) => {
  const page = toPageRequest(c.req.valid("query"));
  const entries = await listChangelog(c.env, c.req.valid("param").project_id, page);
  return c.json(toEnvelope(entries, presentEntry), 200);
});
