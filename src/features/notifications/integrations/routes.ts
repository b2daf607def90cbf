import type { Context } from "hono";
import { setLocation, tagged } from "../../../http/entity-tags.ts";
import { operation } from "../../../http/operation.ts";
import { ProjectParams } from "../../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { BadInput, Conflict, LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { once } from "../../idempotency/index.ts";
import { CONFIRMATION_HOURS } from "./model.ts";
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
  confirmIntegration,
  createIntegration,
  DISABLED,
  deleteIntegration,
  getIntegration,
  listIntegrations,
  resumeIntegration,
  rotateSecret,
  UNCONFIRMED,
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
  role: "viewer",
  polled: true,
  scope: "integrations:read",
  description: `Returns all of them on one page, the newest first.`,
  notFound: ["project"],
  request: { params: ProjectParams() },
  responses: { 200: jsonReply(IntegrationList(), "The integrations.") },
});

const create = operation({
  method: "post",
  path: ALL,
  operationId: "createIntegration",
  tags: TAGS,
  summary: "Create a webhook",
  role: "owner",
  record: true,
  scope: "integrations:write",
  description:
    `A project has up to ${LIMITS.integrationsPerProject.value} notification integrations: one more is a ` +
    "`conflict`. Only this response contains the secret for verifying webhooks.",
  notFound: ["project", "environment in the project", "stack in the project"],
  errors: {
    url_not_https: new BadInput([
      { path: "url", message: "Send a URL that begins with https://." },
    ]),
    project_integration_limit: new Conflict(
      `The project has ${LIMITS.integrationsPerProject.value} notification integrations, which is the most. Delete one first.`,
    ),
    integration_limit: new LimitReached(LIMITS.integrations.value, "integrations"),
  },
  request: { params: ProjectParams(), body: jsonBody(CreateIntegration()) },
  responses: {
    201: jsonReply(CreatedIntegration(), "The integration, with its secret."),
  },
});

const get = operation({
  method: "get",
  path: ONE,
  operationId: "getIntegration",
  tags: TAGS,
  summary: "Read a notification integration",
  role: "viewer",
  record: true,
  scope: "integrations:read",
  notFound: ["notification integration"],
  request: { params: IntegrationParams() },
  responses: { 200: jsonReply(Integration(), "The integration.") },
});

const update = operation({
  method: "patch",
  path: ONE,
  operationId: "updateIntegration",
  tags: TAGS,
  summary: "Change a notification integration",
  role: "owner",
  record: true,
  scope: "integrations:write",
  description:
    `Absent fields keep their values. Enables a disabled integration again, also ` +
    "with an empty body object. Does not confirm a Slack installation.",
  notFound: ["notification integration", "environment in the project", "stack in the project"],
  errors: {
    url_not_https: new BadInput([
      { path: "url", message: "Send a URL that begins with https://." },
    ]),
    url_of_slack: new BadInput([
      {
        path: "url",
        message: "Leave the URL out: the installation sets the URL of a Slack integration.",
      },
    ]),
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
  request: { params: IntegrationParams(), body: jsonBody(UpdateIntegration()) },
  responses: { 200: jsonReply(Integration(), "The integration.") },
});

const remove = operation({
  method: "delete",
  path: ONE,
  operationId: "deleteIntegration",
  tags: TAGS,
  summary: "Delete a notification integration",
  role: "owner",
  record: true,
  scope: "integrations:write",
  description: `Deletes its deliveries too, including pending ones.`,
  notFound: ["notification integration"],
  request: { params: IntegrationParams() },
  responses: { 204: NO_CONTENT },
});

const rotate = operation({
  method: "post",
  path: `${ONE}/rotate-secret`,
  operationId: "rotateIntegrationSecret",
  tags: TAGS,
  summary: "Rotate the secret of a webhook",
  role: "owner",
  record: true,
  scope: "integrations:write",
  description:
    `For 24 hours, webhooks have two signatures: one by the new secret and one by ` +
    "the previous secret. A further rotation in that time drops the oldest secret. A Slack " +
    "integration has no secret: this is a `conflict`.",
  notFound: ["notification integration"],
  errors: {
    no_secret: new Conflict("A Slack integration has no secret to rotate."),
  },
  request: { params: IntegrationParams() },
  responses: {
    200: jsonReply(RotatedIntegration(), "The integration, with its new secret."),
  },
});

const confirm = operation({
  method: "post",
  path: `${ONE}/confirm`,
  operationId: "confirmIntegration",
  tags: TAGS,
  summary: "Confirm a Slack installation",
  role: "owner",
  record: true,
  scope: "integrations:write",
  description:
    "Compare the workspace and the channel in `slack` first: whoever completed the installation " +
    "chose them. Until the confirmation, nothing is sent; events from before it are never sent. An " +
    `installation that is not confirmed within ${CONFIRMATION_HOURS} hours is deleted. An integration that is ` +
    "already confirmed, as every webhook is, stays as it is.",
  notFound: ["notification integration"],
  errors: {
    installation_lapsed: new Conflict(
      "The installation was not confirmed in time. Install Slack again.",
    ),
  },
  request: { params: IntegrationParams() },
  responses: { 201: jsonReply(Integration(), "The integration, confirmed.") },
});

const resume = operation({
  method: "post",
  path: `${ONE}/resume`,
  operationId: "resumeIntegration",
  tags: TAGS,
  summary: "Resume a notification integration",
  role: "owner",
  record: true,
  scope: "integrations:write",
  description:
    "Ends its pause, and makes the deliveries due that wait for a retry, up to " +
    `${LIMITS.resumedDeliveries.value}. \`failing_since\` stays until an attempt succeeds. An integration ` +
    "that is disabled, or a Slack installation that is not confirmed, is a `conflict`.",
  notFound: ["notification integration"],
  errors: {
    integration_disabled: new Conflict(DISABLED),
    integration_unconfirmed: new Conflict(UNCONFIRMED),
  },
  request: { params: IntegrationParams() },
  responses: { 201: jsonReply(Integration(), "The integration, which is not paused.") },
});

export const integrationRoutes = createRouter()
  .openapi(list, async (c) => {
    const rows = await listIntegrations(c.env, c.req.valid("param").project_id);
    return c.json({ data: rows.map(presentIntegration), has_more: false }, 200);
  })
  .openapi(create, async (c) => {
    const { configuration, url, ...lists } = c.req.valid("json");
    const { project_id } = c.req.valid("param");
    const input = { configuration, url, filters: toFilters(lists) };
    const created = await once(c.env, createIntegration, project_id, input);
    setLocation(c, get, { project_id, integration_id: created.row.id });
    await tagIntegration(c, created.row);
    return c.json(presentCreatedIntegration(created), 201);
  })
  .openapi(get, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const row = await getIntegration(c.env, project_id, integration_id);
    return c.json(await tagIntegration(c, row), 200);
  })
  .openapi(update, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const { configuration = {}, url, ...lists } = c.req.valid("json");
    const change = { configuration, url, filters: toFilters(lists) };
    const row = await once(c.env, updateIntegration, project_id, integration_id, change);
    return c.json(await tagIntegration(c, row), 200);
  })
  .openapi(remove, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    await deleteIntegration(c.env, project_id, integration_id);
    return c.body(null, 204);
  })
  .openapi(rotate, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const rotated = await once(c.env, rotateSecret, project_id, integration_id);
    await tagIntegration(c, rotated.row);
    return c.json(presentRotatedIntegration(rotated), 200);
  })
  .openapi(confirm, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const row = await once(c.env, confirmIntegration, project_id, integration_id);
    setLocation(c, get, { project_id, integration_id });
    return c.json(await tagIntegration(c, row), 201);
  })
  .openapi(resume, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const row = await once(c.env, resumeIntegration, project_id, integration_id);
    setLocation(c, get, { project_id, integration_id });
    return c.json(await tagIntegration(c, row), 201);
  });

/** The tag is that of the integration without its secret, as a GET shows it. */
function tagIntegration(c: Context, row: Parameters<typeof presentIntegration>[0]) {
  return tagged(c, row.recordVersion, presentIntegration(row));
}

function toFilters(lists: {
  environment_ids?: string[] | null | undefined;
  stack_ids?: string[] | null | undefined;
}) {
  return { environmentIds: lists.environment_ids, stackIds: lists.stack_ids };
}
