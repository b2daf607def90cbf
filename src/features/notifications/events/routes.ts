import { operation } from "../../../http/operation.ts";
import { toPageRequest } from "../../../http/pagination.ts";
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
  presentEach: presentEvent,
  scope: "integrations:read",
  request: () => ({ params: ProjectParams(), query: EventQuery() }),
});

export const eventRoutes = createRouter<Documented>().handle(list, ({ ctx, params, query }) =>
  listEvents(ctx, params.project_id, toFilter(query), toPageRequest(query)),
);
