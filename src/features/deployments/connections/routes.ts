import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { presentProject } from "../../projects/projects/index.ts";
import type { Documented } from "./document.ts";
import type { PresentedConnection } from "./presenters.ts";
import { ConnectProject } from "./schemas.ts";
import { connectProject, disconnectProject, getConnection } from "./service.ts";

const get = operation({
  method: "get",
  path: "/v1/projects/{project_id}/connection",
  operationId: "getConnection",
  present: (connection: PresentedConnection) => connection,
  scope: "projects:read",
  request: () => ({ params: ProjectParams() }),
});

const connect = operation({
  method: "put",
  path: "/v1/projects/{project_id}/connection",
  operationId: "connectProject",
  resource: true,
  present: presentProject,
  scope: "projects:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(ConnectProject()) }),
});

const disconnect = operation({
  method: "patch",
  path: "/v1/projects/{project_id}/disconnect",
  operationId: "disconnectProject",
  status: 204,
  scope: "projects:write",
  request: () => ({ params: ProjectParams() }),
});

export const connectionRoutes = createRouter<Documented>()
  .handle(get, ({ ctx, params }) => getConnection(ctx, params.project_id))
  .handle(connect, ({ ctx, params, body }) => connectProject(ctx, params.project_id, body))
  .handle(disconnect, ({ ctx, params }) => disconnectProject(ctx, params.project_id));
