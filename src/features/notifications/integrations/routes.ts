import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { ProjectParams } from "../../../http/params.ts";
import {
  created,
  createdWithSecrets,
  done,
  json,
  noContent,
  ok,
  okWithSecrets,
  page,
} from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { BadInput, LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { NOT_HTTPS } from "../../../lib/target-url.ts";
import {
  CONFIRMATION_TTL_MS,
  DISABLED,
  FULL,
  LAPSED,
  NO_SECRET,
  UNCONFIRMED,
  URL_OF_SLACK,
} from "./model.ts";
import { presentIntegration, presentRotatedSecret, presentSecret } from "./presenters.ts";
import {
  CreatedIntegration,
  CreateIntegration,
  Integration,
  IntegrationList,
  IntegrationParams,
  RotatedIntegration,
  UpdateIntegration,
} from "./schemas.ts";
import { SECRET_OVERLAP_MS } from "./secret.ts";
import {
  confirmIntegration,
  createIntegration,
  deleteIntegration,
  getIntegration,
  listIntegrations,
  resumeIntegration,
  rotateSecret,
  updateIntegration,
} from "./service.ts";

const TAGS = ["Notification integrations"];

const ALL = "/v1/projects/{project_id}/notification-integrations";
const ONE = `${ALL}/{integration_id}` as const;

const list = apiRoute({
  method: "get",
  path: ALL,
  operationId: "listIntegrations",
  tags: TAGS,
  summary: "List the notification integrations of a project",
  description: `Returns all of them on one page, the newest first.`,
  access: { scope: "integrations:read", role: "viewer" },
  polled: true,
  request: { params: ProjectParams },
  responses: { 200: json(IntegrationList, "The integrations.") },
  notFound: ["project"],
});

const get = apiRoute({
  method: "get",
  path: ONE,
  operationId: "getIntegration",
  tags: TAGS,
  summary: "Read a notification integration",
  access: { scope: "integrations:read", role: "viewer" },
  resource: true,
  request: { params: IntegrationParams },
  responses: { 200: json(Integration, "The integration.") },
  notFound: ["notification integration"],
});

const create = apiRoute({
  method: "post",
  path: ALL,
  operationId: "createIntegration",
  tags: TAGS,
  summary: "Create a webhook",
  description:
    `A project has up to ${LIMITS.integrationsPerProject.value} notification integrations: one more is a ` +
    "`conflict`. Only this response contains the secret for verifying webhooks.",
  access: { scope: "integrations:write", role: "owner" },
  resource: true,
  request: { params: ProjectParams, body: jsonBody(CreateIntegration) },
  responses: {
    201: json(CreatedIntegration, "The integration, with its secret."),
  },
  notFound: ["project", "environment in the project", "stack in the project"],
  errors: {
    url_not_https: new BadInput([{ path: "url", message: NOT_HTTPS }]),
    project_integration_limit: FULL,
    integration_limit: new LimitReached(QUOTAS.integrations, "integrations"),
  },
});

const update = apiRoute({
  method: "patch",
  path: ONE,
  operationId: "updateIntegration",
  tags: TAGS,
  summary: "Change a notification integration",
  description:
    `Absent fields keep their values. Enables a disabled integration again, also ` +
    "with an empty body object. Does not confirm a Slack installation.",
  access: { scope: "integrations:write", role: "owner" },
  resource: true,
  request: { params: IntegrationParams, body: jsonBody(UpdateIntegration) },
  responses: { 200: json(Integration, "The integration.") },
  notFound: ["notification integration", "environment in the project", "stack in the project"],
  errors: {
    url_not_https: new BadInput([{ path: "url", message: NOT_HTTPS }]),
    url_of_slack: new BadInput([{ path: "url", message: URL_OF_SLACK }]),
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
});

const remove = apiRoute({
  method: "delete",
  path: ONE,
  operationId: "deleteIntegration",
  tags: TAGS,
  summary: "Delete a notification integration",
  description: `Deletes its deliveries too, including pending ones.`,
  access: { scope: "integrations:write", role: "owner" },
  resource: true,
  request: { params: IntegrationParams },
  responses: { 204: noContent },
  notFound: ["notification integration"],
});

const rotate = apiRoute({
  method: "post",
  path: `${ONE}/rotate-secret`,
  operationId: "rotateIntegrationSecret",
  tags: TAGS,
  summary: "Rotate the secret of a webhook",
  description:
    `For ${durationOf(SECRET_OVERLAP_MS)}, webhooks have two signatures: one by the new secret and one by ` +
    "the previous secret. A further rotation in that time drops the oldest secret. A Slack " +
    "integration has no secret: this is a `conflict`.",
  access: { scope: "integrations:write", role: "owner" },
  resource: true,
  request: { params: IntegrationParams },
  responses: {
    200: json(RotatedIntegration, "The integration, with its new secret."),
  },
  notFound: ["notification integration"],
  errors: {
    no_secret: NO_SECRET,
  },
});

const confirm = apiRoute({
  method: "post",
  path: `${ONE}/confirm`,
  operationId: "confirmIntegration",
  tags: TAGS,
  summary: "Confirm a Slack installation",
  description:
    "Compare the workspace and the channel in `slack` first: whoever completed the installation " +
    "chose them. Until the confirmation, nothing is sent; events from before it are never sent. An " +
    `installation that is not confirmed within ${durationOf(CONFIRMATION_TTL_MS)} is deleted. An integration that is ` +
    "already confirmed, as every webhook is, stays as it is.",
  access: { scope: "integrations:write", role: "owner" },
  resource: true,
  request: { params: IntegrationParams },
  responses: { 201: json(Integration, "The integration, confirmed.") },
  notFound: ["notification integration"],
  errors: {
    installation_lapsed: LAPSED,
  },
});

const resume = apiRoute({
  method: "post",
  path: `${ONE}/resume`,
  operationId: "resumeIntegration",
  tags: TAGS,
  summary: "Resume a notification integration",
  description:
    "Ends its pause, and makes the deliveries due that wait for a retry, up to " +
    `${LIMITS.resumedDeliveries.value}. \`failing_since\` stays until an attempt succeeds. An integration ` +
    "that is disabled, or a Slack installation that is not confirmed, is a `conflict`.",
  access: { scope: "integrations:write", role: "owner" },
  resource: true,
  request: { params: IntegrationParams },
  responses: { 201: json(Integration, "The integration, which is not paused.") },
  notFound: ["notification integration"],
  errors: {
    integration_disabled: DISABLED,
    integration_unconfirmed: UNCONFIRMED,
  },
});

export const integrationRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      async (ctx) => ({
        rows: await listIntegrations(ctx, c.req.valid("param").project_id),
        next: undefined,
      }),
      presentIntegration,
    ),
  )
  .openapi(create, (c) => {
    const { configuration, url, ...lists } = c.req.valid("json");
    const input = { configuration, url, filters: toFilters(lists) };
    return createdWithSecrets(
      c,
      get.path,
      (ctx) => createIntegration(ctx, c.req.valid("param").project_id, input),
      presentIntegration,
      { secrets: presentSecret },
    );
  })
  .openapi(get, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) => getIntegration(ctx, params.project_id, params.integration_id),
      presentIntegration,
    );
  })
  .openapi(update, (c) => {
    const params = c.req.valid("param");
    const { configuration = {}, url, ...lists } = c.req.valid("json");
    const change = { configuration, url, filters: toFilters(lists) };
    return ok(
      c,
      (ctx) => updateIntegration(ctx, params.project_id, params.integration_id, change),
      presentIntegration,
    );
  })
  .openapi(remove, (c) => {
    const params = c.req.valid("param");
    return done(c, (ctx) => deleteIntegration(ctx, params.project_id, params.integration_id));
  })
  .openapi(rotate, (c) => {
    const params = c.req.valid("param");
    return okWithSecrets(
      c,
      (ctx) => rotateSecret(ctx, params.project_id, params.integration_id),
      presentIntegration,
      { secrets: presentRotatedSecret },
    );
  })
  .openapi(confirm, (c) => {
    const params = c.req.valid("param");
    return created(
      c,
      get.path,
      (ctx) => confirmIntegration(ctx, params.project_id, params.integration_id),
      presentIntegration,
    );
  })
  .openapi(resume, (c) => {
    const params = c.req.valid("param");
    return created(
      c,
      get.path,
      (ctx) => resumeIntegration(ctx, params.project_id, params.integration_id),
      presentIntegration,
    );
  });

function toFilters(lists: {
  environment_ids?: string[] | null | undefined;
  stack_ids?: string[] | null | undefined;
}) {
  return { environmentIds: lists.environment_ids, stackIds: lists.stack_ids };
}
