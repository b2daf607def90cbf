import type { Context } from "hono";
import { setLocation, tagged } from "../../../http/entity-tags.ts";
import { operation } from "../../../http/operation.ts";
import { toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { jsonReply } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { Conflict } from "../../../lib/errors.ts";
import { once } from "../../idempotency/index.ts";
import { IntegrationParams } from "../integrations/index.ts";
import { presentDelivery, presentDeliveryInFull } from "./presenters.ts";
import {
  Delivery,
  DeliveryInFull,
  DeliveryList,
  DeliveryParams,
  DeliveryQuery,
} from "./schemas.ts";
import { getDelivery, listDeliveries, pingIntegration, redeliver } from "./service.ts";

const INTEGRATION = "/v1/projects/{project_id}/notification-integrations/{integration_id}";
const TAGS = ["Deliveries"];
const ENABLED =
  "An integration that is disabled, or a Slack installation that is not confirmed, is a `conflict`.";

const list = operation({
  method: "get",
  path: `${INTEGRATION}/deliveries`,
  operationId: "listDeliveries",
  tags: TAGS,
  summary: "List the deliveries of an integration",
  role: "viewer",
  polled: true,
  scope: "integrations:read",
  notFound: ["notification integration"],
  request: { params: IntegrationParams(), query: DeliveryQuery() },
  responses: { 200: jsonReply(DeliveryList(), "A page of deliveries.") },
});

const get = operation({
  method: "get",
  path: `${INTEGRATION}/deliveries/{delivery_id}`,
  operationId: "getDelivery",
  tags: TAGS,
  summary: "Read a delivery",
  role: "viewer",
  record: true,
  scope: "integrations:read",
  description: `Includes the event and the result of each attempt.`,
  notFound: ["delivery"],
  request: { params: DeliveryParams() },
  responses: { 200: jsonReply(DeliveryInFull(), "The delivery.") },
});

const redelivery = operation({
  method: "post",
  path: `${INTEGRATION}/deliveries/{delivery_id}/redeliver`,
  operationId: "redeliver",
  tags: TAGS,
  summary: "Deliver again",
  role: "owner",
  record: true,
  scope: "integrations:write",
  description:
    `${ENABLED} Creates a new delivery of the same event, with the same ` +
    "`webhook-id`, and does not change this one.",
  notFound: ["delivery"],
  errors: {
    integration_disabled: new Conflict(
      "The integration is disabled. Send a PATCH, which may be empty, to enable it.",
    ),
    integration_unconfirmed: new Conflict(
      "The Slack installation is not confirmed. Check its channel, and send POST …/confirm.",
    ),
  },
  request: { params: DeliveryParams() },
  responses: { 201: jsonReply(Delivery(), "The new delivery, pending.") },
});

const ping = operation({
  method: "post",
  path: `${INTEGRATION}/ping`,
  operationId: "pingIntegration",
  tags: TAGS,
  summary: "Ping an integration",
  role: "owner",
  record: true,
  scope: "integrations:write",
  description: `${ENABLED} Sends an event of the type \`ping\`, whichever kinds are enabled.`,
  notFound: ["notification integration"],
  errors: {
    integration_disabled: new Conflict(
      "The integration is disabled. Send a PATCH, which may be empty, to enable it.",
    ),
    integration_unconfirmed: new Conflict(
      "The Slack installation is not confirmed. Check its channel, and send POST …/confirm.",
    ),
  },
  request: { params: IntegrationParams() },
  responses: { 201: jsonReply(Delivery(), "The delivery, pending.") },
});

/** No caller changes a delivery. */
const VERSION = 1;

export const deliveryRoutes = createRouter()
  .openapi(list, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const query = c.req.valid("query");
    const page = { ...toPageRequest(query), statuses: query.status ?? [] };
    const deliveries = await listDeliveries(c.env, project_id, integration_id, page);
    return c.json(toEnvelope(deliveries, presentDelivery), 200);
  })
  .openapi(get, async (c) => {
    const { delivery, attempts } = await getDelivery(c.env, toReference(c.req.valid("param")));
    return c.json(await tagged(c, VERSION, presentDeliveryInFull(delivery, attempts)), 200);
  })
  .openapi(redelivery, async (c) => {
    const reference = toReference(c.req.valid("param"));
    const delivery = await once(c.env, redeliver, reference);
    return c.json(await presentCreated(c, reference, delivery), 201);
  })
  .openapi(ping, async (c) => {
    const { project_id: projectId, integration_id: integrationId } = c.req.valid("param");
    const delivery = await once(c.env, pingIntegration, projectId, integrationId);
    return c.json(await presentCreated(c, { projectId, integrationId }, delivery), 201);
  });

function presentCreated(
  c: Context,
  { projectId, integrationId }: { projectId: string; integrationId: string },
  delivery: Parameters<typeof presentDelivery>[0],
) {
  const integration = { project_id: projectId, integration_id: integrationId };
  setLocation(c, get, { ...integration, delivery_id: delivery.id });
  return tagged(c, VERSION, presentDelivery(delivery));
}

function toReference(params: { project_id: string; integration_id: string; delivery_id: string }) {
  const { project_id: projectId, integration_id: integrationId, delivery_id: id } = params;
  return { projectId, integrationId, id };
}
