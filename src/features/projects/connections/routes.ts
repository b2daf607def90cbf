import { createRoute } from "@hono/zod-openapi";
import { ProjectParams } from "../../../http/params.ts";
import {
  API_KEY,
  ERROR_REPLIES,
  jsonBody,
  jsonReply,
  NEEDS,
  NO_CONTENT,
} from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { Project, presentProject } from "../index.ts";
import { ConnectProject } from "./schemas.ts";
import { connectProject, disconnectProject } from "./service.ts";

const connect = createRoute({
  method: "put",
  path: "/v1/projects/{project_id}/connection",
  operationId: "connectProject",
  tags: ["Projects"],
  summary: "Connect a project to a cloud provider",
  description:
    `${NEEDS.owner} Replaces an existing connection. While the project is \`disconnecting\`, the ` +
    "request is a `conflict`.",
  security: API_KEY,
  request: { params: ProjectParams, body: jsonBody(ConnectProject) },
  responses: { 200: jsonReply(Project, "The project, now connected."), ...ERROR_REPLIES },
});

const disconnect = createRoute({
  method: "patch",
  path: "/v1/projects/{project_id}/disconnect",
  operationId: "disconnectProject",
  tags: ["Projects"],
  summary: "Disconnect a project from its cloud provider",
  description:
    `${NEEDS.owner} Cancels the unfinished deployments: the project is \`disconnecting\` until ` +
    "the last one has ended. Does nothing to a project that is `disconnected`.",
  security: API_KEY,
  request: { params: ProjectParams },
  responses: { 204: NO_CONTENT, ...ERROR_REPLIES },
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
    return c.json(presentProject(project), 200);
  })
  .openapi(disconnect, async (c) => {
    await disconnectProject(c.env, c.req.valid("param").project_id);
    return c.body(null, 204);
  });
