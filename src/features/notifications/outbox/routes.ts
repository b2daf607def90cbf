import { operation } from "../../../http/operation.ts";
import { toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { ProjectParams } from "../../../http/params.ts";
import { jsonReply } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { presentEvent, toFilter } from "./presenters.ts";
import { EventQuery, ProjectEventList } from "./schemas.ts";
import { listEvents } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/projects/{project_id}/events",
  operationId: "listEvents",
  tags: ["Events"],
  summary: "List the events of a project",
  role: "viewer",
  scope: "integrations:read",
  description:
    "Returns every event, whether or not an integration received it. A key that is narrowed to " +
    "environments reads their events, and those of the project as a whole.",
  notFound: ["project"],
  request: { params: ProjectParams(), query: EventQuery() },
  responses: { 200: jsonReply(ProjectEventList(), "A page of events.") },
});

export const eventRoutes = createRouter().openapi(list, async (c) => {
  const query = c.req.valid("query");
  const { project_id } = c.req.valid("param");
  const page = await listEvents(c.env, project_id, toFilter(query), toPageRequest(query));
  return c.json(toEnvelope(page, presentEvent), 200);
});
