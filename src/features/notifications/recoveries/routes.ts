import { setLocation, tagged } from "../../../http/entity-tags.ts";
import { operation } from "../../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { jsonBody, jsonReply } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { BadInput, Conflict } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { once } from "../../idempotency/index.ts";
import { DISABLED, IntegrationParams, UNCONFIRMED } from "../integrations/index.ts";
import { presentRecovery } from "./presenters.ts";
import { CreateRecovery, MAXIMUM_DAYS, Recovery, RecoveryList, RecoveryParams } from "./schemas.ts";
import { createRecovery, getRecovery, listRecoveries, RUNNING } from "./service.ts";

const ALL =
  "/v1/projects/{project_id}/notification-integrations/{integration_id}/recoveries" as const;
const TAGS = ["Recoveries"];

const create = operation({
  method: "post",
  path: ALL,
  operationId: "createRecovery",
  tags: TAGS,
  summary: "Deliver again what failed in a period",
  role: "owner",
  record: true,
  scope: "integrations:write",
  description:
    "Creates a new delivery, with the same `webhook-id`, for each event whose delivery failed in the " +
    "period, except for those that this integration has received since, or that are pending. It " +
    "starts within a minute, and reads up to " +
    `${LIMITS.recoveredDeliveries.value} failed deliveries a minute. An integration that is disabled, a ` +
    "Slack installation that is not confirmed, and a second recovery at a time are a `conflict`. A " +
    "recovery of an integration that is disabled later waits until it is enabled.",
  notFound: ["notification integration"],
  errors: {
    since_too_early: new BadInput([
      { path: "since", message: `Send a time of the last ${MAXIMUM_DAYS} days.` },
    ]),
    integration_disabled: new Conflict(DISABLED),
    integration_unconfirmed: new Conflict(UNCONFIRMED),
    recovery_running: new Conflict(RUNNING),
  },
  request: { params: IntegrationParams(), body: jsonBody(CreateRecovery()) },
  responses: { 201: jsonReply(Recovery(), "The recovery, running.") },
});

const list = operation({
  method: "get",
  path: ALL,
  operationId: "listRecoveries",
  tags: TAGS,
  summary: "List the recoveries of an integration",
  role: "viewer",
  polled: true,
  scope: "integrations:read",
  notFound: ["notification integration"],
  request: { params: IntegrationParams(), query: ListQuery() },
  responses: { 200: jsonReply(RecoveryList(), "A page of recoveries.") },
});

const get = operation({
  method: "get",
  path: `${ALL}/{recovery_id}`,
  operationId: "getRecovery",
  tags: TAGS,
  summary: "Read a recovery",
  role: "viewer",
  record: true,
  scope: "integrations:read",
  notFound: ["recovery"],
  request: { params: RecoveryParams() },
  responses: { 200: jsonReply(Recovery(), "The recovery.") },
});

/** No caller changes a recovery. */
const VERSION = 1;

export const recoveryRoutes = createRouter()
  .openapi(create, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const { since, until } = c.req.valid("json");
    const period = {
      since: Date.parse(since),
      until: until === undefined ? undefined : Date.parse(until),
    };
    const row = await once(c.env, createRecovery, project_id, integration_id, period);
    setLocation(c, get, { project_id, integration_id, recovery_id: row.id });
    return c.json(await tagged(c, VERSION, presentRecovery(row)), 201);
  })
  .openapi(list, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const page = toPageRequest(c.req.valid("query"));
    const found = await listRecoveries(c.env, project_id, integration_id, page);
    return c.json(toEnvelope(found, presentRecovery), 200);
  })
  .openapi(get, async (c) => {
    const { project_id, integration_id, recovery_id } = c.req.valid("param");
    const reference = { projectId: project_id, integrationId: integration_id, id: recovery_id };
    const row = await getRecovery(c.env, reference);
    return c.json(await tagged(c, VERSION, presentRecovery(row)), 200);
  });
