import { apiRoute } from "../../../http/api-route.ts";
import { toPageRequest } from "../../../http/pagination.ts";
import { created, json, ok, page, unchanging } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { DISABLED, UNCONFIRMED } from "../integrations/index.ts";
import { IntegrationParams } from "../integrations/schemas.ts";
import { presentDelivery, presentDeliveryInFull } from "./presenters.ts";
import {
  Delivery,
  DeliveryInFull,
  DeliveryList,
  DeliveryParams,
  DeliveryQuery,
} from "./schemas.ts";
import { getDelivery, listDeliveries, pingIntegration, redeliver } from "./service.ts";

const TAGS = ["Deliveries"];

const ENABLED =
  "An integration that is disabled, or a Slack installation that is not confirmed, is a `conflict`.";

const INTEGRATION = "/v1/projects/{project_id}/notification-integrations/{integration_id}";

const list = apiRoute({
  method: "get",
  path: `${INTEGRATION}/deliveries`,
  operationId: "listDeliveries",
  tags: TAGS,
  summary: "List the deliveries of an integration",
  access: { scope: "integrations:read", role: "viewer" },
  polled: true,
  request: { params: IntegrationParams, query: DeliveryQuery },
  responses: { 200: json(DeliveryList, "A page of deliveries.") },
  notFound: ["notification integration"],
});

const get = apiRoute({
  method: "get",
  path: `${INTEGRATION}/deliveries/{delivery_id}`,
  operationId: "getDelivery",
  tags: TAGS,
  summary: "Read a delivery",
  description: `Includes the event and the result of each attempt.`,
  access: { scope: "integrations:read", role: "viewer" },
  resource: true,
  request: { params: DeliveryParams },
  responses: { 200: json(DeliveryInFull, "The delivery.") },
  notFound: ["delivery"],
});

const redelivery = apiRoute({
  method: "post",
  path: `${INTEGRATION}/deliveries/{delivery_id}/redeliver`,
  operationId: "redeliver",
  tags: TAGS,
  summary: "Deliver again",
  description:
    `${ENABLED} Creates a new delivery of the same event, with the same ` +
    "`webhook-id`, and does not change this one.",
  access: { scope: "integrations:write", role: "owner" },
  resource: true,
  request: { params: DeliveryParams },
  responses: { 201: json(Delivery, "The new delivery, pending.") },
  notFound: ["delivery"],
  errors: {
    integration_disabled: DISABLED,
    integration_unconfirmed: UNCONFIRMED,
  },
});

const ping = apiRoute({
  method: "post",
  path: `${INTEGRATION}/ping`,
  operationId: "pingIntegration",
  tags: TAGS,
  summary: "Ping an integration",
  description: `${ENABLED} Sends an event of the type \`ping\`, whichever kinds are enabled.`,
  access: { scope: "integrations:write", role: "owner" },
  resource: true,
  request: { params: IntegrationParams },
  responses: { 201: json(Delivery, "The delivery, pending.") },
  notFound: ["notification integration"],
  errors: {
    integration_disabled: DISABLED,
    integration_unconfirmed: UNCONFIRMED,
  },
});

export const deliveryRoutes = createRouter()
  .openapi(list, (c) => {
    const params = c.req.valid("param");
    const query = c.req.valid("query");
    const request = { ...toPageRequest(query), statuses: query.status ?? [] };
    return page(
      c,
      (ctx) => listDeliveries(ctx, params.project_id, params.integration_id, request),
      presentDelivery,
    );
  })
  .openapi(get, (c) =>
    ok(c, (ctx) => getDelivery(ctx, toReference(c.req.valid("param"))), presentDeliveryInFull, {
      version: unchanging,
    }),
  )
  .openapi(redelivery, (c) =>
    created(
      c,
      get.path,
      (ctx) => redeliver(ctx, toReference(c.req.valid("param"))),
      presentDelivery,
      { version: unchanging },
    ),
  )
  .openapi(ping, (c) => {
    const params = c.req.valid("param");
    return created(
      c,
      get.path,
      (ctx) => pingIntegration(ctx, params.project_id, params.integration_id),
      presentDelivery,
      { version: unchanging },
    );
  });

function toReference(params: { project_id: string; integration_id: string; delivery_id: string }) {
  const { project_id: projectId, integration_id: integrationId, delivery_id: id } = params;
  return { projectId, integrationId, id };
}
