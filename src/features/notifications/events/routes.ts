import { apiRoute } from "../../../http/api-route.ts";
import { toPageRequest } from "../../../http/pagination.ts";
import { ProjectParams } from "../../../http/params.ts";
import { json, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { presentEvent, toFilter } from "./presenters.ts";
import { EventQuery, ProjectEventList } from "./schemas.ts";
import { listEvents } from "./service.ts";

const list = apiRoute({
  method: "get",
  path: "/v1/projects/{project_id}/events",
  operationId: "listEvents",
  tags: ["Events"],
  summary: "List the events of a project",
  description:
    "Returns every event, whether or not an integration received it. A key that is narrowed to " +
    "environments reads their events, and those of the project as a whole.",
  access: { scope: "integrations:read", role: "viewer" },
  request: { params: ProjectParams, query: EventQuery },
  responses: { 200: json(ProjectEventList, "A page of events.") },
  notFound: ["project"],
});

export const eventRoutes = createRouter().openapi(list, (c) => {
  const query = c.req.valid("query");
  return page(
    c,
    (ctx) =>
      listEvents(ctx, c.req.valid("param").project_id, toFilter(query), toPageRequest(query)),
    presentEvent,
  );
});
