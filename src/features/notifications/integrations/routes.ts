import { operation } from "../../../http/operation.ts";
import { ProjectParams } from "../../../http/params.ts";
import { jsonBody, jsonReply, NEEDS, NO_CONTENT } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  presentCreatedIntegration,
  presentIntegration,
  presentRotatedIntegration,
} from "./presenters.ts";
import {
  CreatedIntegration,
  CreateIntegration,
  Integration,
  IntegrationList,
  IntegrationParams,
  RotatedIntegration,
  UpdateIntegration,
} from "./schemas.ts";
import {
  createIntegration,
  deleteIntegration,
  getIntegration,
  listIntegrations,
  rotateSecret,
  updateIntegration,
} from "./service.ts";

const ALL = "/v1/projects/{project_id}/notification-integrations";
const ONE = `${ALL}/{integration_id}` as const;
const TAGS = ["Notification integrations"];

const list = operation({
  method: "get",
  path: ALL,
  operationId: "listIntegrations",
  tags: TAGS,
  summary: "List the notification integrations of a project",
  description: `${NEEDS.viewer} Returns all of them on one page, the newest first.`,
  request: { params: ProjectParams },
  responses: { 200: jsonReply(IntegrationList, "The integrations.") },
});

const create = operation({
  method: "post",
  path: ALL,
  operationId: "createIntegration",
  tags: TAGS,
  summary: "Create a webhook",
  description:
    `${NEEDS.owner} A project has up to ${LIMITS.integrationsPerProject.value} notification integrations: one more is a ` +
    "`conflict`. Only this response contains the secret for verifying webhooks.",
  request: { params: ProjectParams, body: jsonBody(CreateIntegration) },
  responses: {
    201: jsonReply(CreatedIntegration, "The integration, with its secret."),
  },
});

const get = operation({
  method: "get",
  path: ONE,
  operationId: "getIntegration",
  tags: TAGS,
  summary: "Read a notification integration",
  description: NEEDS.viewer,
  request: { params: IntegrationParams },
  responses: { 200: jsonReply(Integration, "The integration.") },
});

const update = operation({
  method: "patch",
  path: ONE,
  operationId: "updateIntegration",
  tags: TAGS,
  summary: "Change a notification integration",
  description:
    `${NEEDS.owner} Absent fields keep their values. Enables a disabled integration again, also ` +
    "with an empty body object.",
  request: { params: IntegrationParams, body: jsonBody(UpdateIntegration) },
  responses: { 200: jsonReply(Integration, "The integration.") },
});

const remove = operation({
  method: "delete",
  path: ONE,
  operationId: "deleteIntegration",
  tags: TAGS,
  summary: "Delete a notification integration",
  description: `${NEEDS.owner} Deletes its deliveries too, including pending ones.`,
  request: { params: IntegrationParams },
  responses: { 204: NO_CONTENT },
});

const rotate = operation({
  method: "post",
  path: `${ONE}/rotate-secret`,
  operationId: "rotateIntegrationSecret",
  tags: TAGS,
  summary: "Rotate the secret of a webhook",
  description:
    `${NEEDS.owner} For 24 hours, webhooks have two signatures: one by the new secret and one by ` +
    "the previous secret. A further rotation in that time drops the oldest secret. A Slack " +
    "integration has no secret: this is a `conflict`.",
  request: { params: IntegrationParams },
  responses: {
    200: jsonReply(RotatedIntegration, "The integration, with its new secret."),
  },
});

export const integrationRoutes = createRouter()
  .openapi(list, async (c) => {
    const rows = await listIntegrations(c.env, c.req.valid("param").project_id);
    return c.json({ data: rows.map(presentIntegration), has_more: false }, 200);
  })
  .openapi(create, async (c) => {
    const { configuration, url } = c.req.valid("json");
    const { project_id } = c.req.valid("param");
    const created = await createIntegration(c.env, project_id, { configuration, url });
    return c.json(presentCreatedIntegration(created), 201);
  })
  .openapi(get, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    return c.json(presentIntegration(await getIntegration(c.env, project_id, integration_id)), 200);
  })
  .openapi(update, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const { configuration = {}, url } = c.req.valid("json");
    const change = { configuration, url };
    const row = await updateIntegration(c.env, project_id, integration_id, change);
    return c.json(presentIntegration(row), 200);
  })
  .openapi(remove, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    await deleteIntegration(c.env, project_id, integration_id);
    return c.body(null, 204);
  })
  .openapi(rotate, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const rotated = await rotateSecret(c.env, project_id, integration_id);
    return c.json(presentRotatedIntegration(rotated), 200);
  });
