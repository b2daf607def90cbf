import type { Context } from "hono";
import { jsonWithTag, setLocation, tagged } from "../../../http/entity-tags.ts";
import { operation } from "../../../http/operation.ts";
import { toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { createRouter } from "../../../http/router.ts";
import { once } from "../../idempotency/index.ts";
import { IntegrationParams } from "../integrations/index.ts";
import type { Documented } from "./document.ts";
import { presentDelivery, presentDeliveryInFull } from "./presenters.ts";
import { DeliveryParams, DeliveryQuery } from "./schemas.ts";
import { getDelivery, listDeliveries, pingIntegration, redeliver } from "./service.ts";

const INTEGRATION = "/v1/projects/{project_id}/notification-integrations/{integration_id}";

const list = operation({
  method: "get",
  path: `${INTEGRATION}/deliveries`,
  operationId: "listDeliveries",
  polled: true,
  scope: "integrations:read",
  request: () => ({ params: IntegrationParams(), query: DeliveryQuery() }),
});

const get = operation({
  method: "get",
  path: `${INTEGRATION}/deliveries/{delivery_id}`,
  operationId: "getDelivery",
  record: true,
  scope: "integrations:read",
  request: () => ({ params: DeliveryParams() }),
});

const redelivery = operation({
  method: "post",
  path: `${INTEGRATION}/deliveries/{delivery_id}/redeliver`,
  operationId: "redeliver",
  status: 201,
  record: true,
  scope: "integrations:write",
  request: () => ({ params: DeliveryParams() }),
});

const ping = operation({
  method: "post",
  path: `${INTEGRATION}/ping`,
  operationId: "pingIntegration",
  status: 201,
  record: true,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams() }),
});

/** No caller changes a delivery. */
const VERSION = 1;

export const deliveryRoutes = createRouter<Documented>()
  .openapi(list, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const query = c.req.valid("query");
    const page = { ...toPageRequest(query), statuses: query.status ?? [] };
    const deliveries = await listDeliveries(c.env, project_id, integration_id, page);
    return c.json(toEnvelope(deliveries, presentDelivery), 200);
  })
  .openapi(get, async (c) => {
    const { delivery, attempts } = await getDelivery(c.env, toReference(c.req.valid("param")));
    return jsonWithTag(c, VERSION, presentDeliveryInFull(delivery, attempts), 200);
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
