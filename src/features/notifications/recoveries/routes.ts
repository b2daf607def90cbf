import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { created, json, ok, page, unchanging } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { BadInput, Conflict } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { DISABLED, UNCONFIRMED } from "../integrations/index.ts";
import { IntegrationParams } from "../integrations/schemas.ts";
import { SINCE_TOO_EARLY } from "./model.ts";
import { presentRecovery } from "./presenters.ts";
import { CreateRecovery, Recovery, RecoveryList, RecoveryParams } from "./schemas.ts";
import { createRecovery, getRecovery, listRecoveries, RUNNING } from "./service.ts";

const TAGS = ["Recoveries"];

const ALL =
  "/v1/projects/{project_id}/notification-integrations/{integration_id}/recoveries" as const;

const get = apiRoute({
  method: "get",
  path: `${ALL}/{recovery_id}`,
  operationId: "getRecovery",
  tags: TAGS,
  summary: "Read a recovery",
  access: { scope: "integrations:read", role: "viewer" },
  resource: true,
  request: { params: RecoveryParams },
  responses: { 200: json(Recovery, "The recovery.") },
  notFound: ["recovery"],
});

const create = apiRoute({
  method: "post",
  path: ALL,
  operationId: "createRecovery",
  tags: TAGS,
  summary: "Deliver again what failed in a period",
  description:
    "Creates a new delivery, with the same `webhook-id`, for each event whose delivery failed in the " +
    "period, except for those that this integration has received since, or that are pending. It " +
    "starts within a minute, and reads up to " +
    `${LIMITS.recoveredDeliveries.value} failed deliveries a minute. An integration that is disabled, a ` +
    "Slack installation that is not confirmed, and a second recovery at a time are a `conflict`. A " +
    "recovery of an integration that is disabled later waits until it is enabled.",
  access: { scope: "integrations:write", role: "owner" },
  resource: true,
  request: { params: IntegrationParams, body: jsonBody(CreateRecovery) },
  responses: { 201: json(Recovery, "The recovery, running.") },
  notFound: ["notification integration"],
  errors: {
    since_too_early: new BadInput([{ path: "since", message: SINCE_TOO_EARLY }]),
    integration_disabled: DISABLED,
    integration_unconfirmed: UNCONFIRMED,
    recovery_running: new Conflict(RUNNING),
  },
});

const list = apiRoute({
  method: "get",
  path: ALL,
  operationId: "listRecoveries",
  tags: TAGS,
  summary: "List the recoveries of an integration",
  access: { scope: "integrations:read", role: "viewer" },
  polled: true,
  request: { params: IntegrationParams, query: ListQuery },
  responses: { 200: json(RecoveryList, "A page of recoveries.") },
  notFound: ["notification integration"],
});

export const recoveryRoutes = createRouter()
  .openapi(create, (c) => {
    const params = c.req.valid("param");
    const { since, until } = c.req.valid("json");
    const period = {
      since: Date.parse(since),
      until: until === undefined ? undefined : Date.parse(until),
    };
    return created(
      c,
      get.path,
      (ctx) => createRecovery(ctx, params.project_id, params.integration_id, period),
      presentRecovery,
      { version: unchanging },
    );
  })
  .openapi(list, (c) => {
    const params = c.req.valid("param");
    return page(
      c,
      (ctx) =>
        listRecoveries(
          ctx,
          params.project_id,
          params.integration_id,
          toPageRequest(c.req.valid("query")),
        ),
      presentRecovery,
    );
  })
  .openapi(get, (c) => {
    const { project_id, integration_id, recovery_id: id } = c.req.valid("param");
    return ok(
      c,
      (ctx) => getRecovery(ctx, { projectId: project_id, integrationId: integration_id, id }),
      presentRecovery,
      { version: unchanging },
    );
  });
