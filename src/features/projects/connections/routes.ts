import { tagged } from "../../../http/entity-tags.ts";
import { operation } from "../../../http/operation.ts";
import { ProjectParams } from "../../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { Conflict } from "../../../lib/errors.ts";
import { once } from "../../idempotency/index.ts";
import { Project, presentProject } from "../index.ts";
import { ConnectProject } from "./schemas.ts";
import { connectProject, disconnectProject } from "./service.ts";

const connect = operation({
  method: "put",
  path: "/v1/projects/{project_id}/connection",
  operationId: "connectProject",
  tags: ["Projects"],
  summary: "Connect a project to a cloud provider",
  role: "owner",
  record: true,
  scope: "projects:write",
  description:
    "Replaces an existing connection. `ETag` and `If-Match` are of the project. A project that is " +
    "disconnecting is a `conflict`.",
  notFound: ["project"],
  errors: {
    project_disconnecting: new Conflict(
      "The project is disconnecting. Retry after its deployments have ended.",
    ),
  },
  request: { params: ProjectParams(), body: jsonBody(ConnectProject()) },
  responses: { 200: jsonReply(Project(), "The project, now connected.") },
});

const disconnect = operation({
  method: "patch",
  path: "/v1/projects/{project_id}/disconnect",
  operationId: "disconnectProject",
  tags: ["Projects"],
  summary: "Disconnect a project from its cloud provider",
  role: "owner",
  scope: "projects:write",
  description:
    `Cancels unfinished deployments: the project is \`disconnecting\` until the ` +
    "last of them has ended. Has no effect on a disconnected project.",
  notFound: ["project"],
  request: { params: ProjectParams() },
  responses: { 204: NO_CONTENT },
});

export const connectionRoutes = createRouter()
  .openapi(connect, async (c) => {
    const { provider, region, ...rest } = c.req.valid("json");
    const project = await connectProject(c.env, c.req.valid("param").project_id, {
      provider,
      region,
      accountId: rest.account_id,
      roleArn: rest.role_arn,
      externalId: rest.external_id,
    });
    return c.json(await tagged(c, project.recordVersion, presentProject(project)), 200);
  })
  .openapi(disconnect, async (c) => {
    const { project_id } = c.req.valid("param");
    await once(c.env, disconnectProject, project_id);
    return c.body(null, 204);
  });
