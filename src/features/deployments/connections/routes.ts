import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { ProjectParams } from "../../../http/params.ts";
import { done, json, noContent, ok } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { presentProject } from "../../projects/projects/index.ts";
import { Project } from "../../projects/projects/schemas.ts";
import { DISCONNECTING } from "./model.ts";
import type { PresentedConnection } from "./presenters.ts";
import { Connection, ConnectProject } from "./schemas.ts";
import { connectProject, disconnectProject, getConnection } from "./service.ts";

const get = apiRoute({
  method: "get",
  path: "/v1/projects/{project_id}/connection",
  operationId: "getConnection",
  tags: ["Projects"],
  summary: "Read where a project is deployed to",
  description: "A project that is not connected has none.",
  access: { scope: "projects:read", role: "viewer" },
  request: { params: ProjectParams },
  responses: { 200: json(Connection, "The connection.") },
  notFound: ["project", "connection of the project"],
});

const connect = apiRoute({
  method: "put",
  path: "/v1/projects/{project_id}/connection",
  operationId: "connectProject",
  tags: ["Projects"],
  summary: "Connect a project to where it is deployed",
  description:
    "Replaces an existing connection. `ETag` and `If-Match` are of the project. A project that is " +
    "disconnecting is a `conflict`.",
  access: { scope: "projects:write", role: "owner" },
  resource: true,
  changes: ["the connection"],
  request: { params: ProjectParams, body: jsonBody(ConnectProject) },
  responses: { 200: json(Project, "The project, now connected.") },
  notFound: ["project"],
  errors: { project_disconnecting: DISCONNECTING },
});

const disconnect = apiRoute({
  method: "patch",
  path: "/v1/projects/{project_id}/disconnect",
  operationId: "disconnectProject",
  tags: ["Projects"],
  summary: "Disconnect a project",
  description:
    `Cancels unfinished deployments: the project is \`disconnecting\` until the ` +
    "last of them has ended. Until it is connected again, nothing is deployed. Has no effect on a project that is " +
    "disconnected already.",
  access: { scope: "projects:write", role: "owner" },
  changes: ["the connection"],
  request: { params: ProjectParams },
  responses: { 204: noContent },
  notFound: ["project"],
});

export const connectionRoutes = createRouter()
  .openapi(get, (c) =>
    ok(
      c,
      (ctx) => getConnection(ctx, c.req.valid("param").project_id),
      (connection: PresentedConnection) => connection,
    ),
  )
  .openapi(connect, (c) =>
    ok(
      c,
      (ctx) => connectProject(ctx, c.req.valid("param").project_id, c.req.valid("json")),
      presentProject,
    ),
  )
  .openapi(disconnect, (c) =>
    done(c, (ctx) => disconnectProject(ctx, c.req.valid("param").project_id)),
  );
