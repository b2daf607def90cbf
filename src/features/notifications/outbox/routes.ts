import { operation } from "../../../http/operation.ts";
import { toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentEvent, toFilter } from "./presenters.ts";
import { EventQuery } from "./schemas.ts";
import { listEvents } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/projects/{project_id}/events",
  operationId: "listEvents",
  scope: "integrations:read",
  request: () => ({ params: ProjectParams(), query: EventQuery() }),
});

export const eventRoutes = createRouter<Documented>().openapi(list, async (c) => {
  const query = c.req.valid("query");
  const { project_id } = c.req.valid("param");
  const page = await listEvents(c.env, project_id, toFilter(query), toPageRequest(query));
  return c.json(toEnvelope(page, presentEvent), 200);
});
