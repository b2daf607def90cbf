import { operation, unchanging } from "../../../http/operation.ts";
import { toPageRequest } from "../../../http/pagination.ts";
import { createRouter } from "../../../http/router.ts";
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
  presentEach: presentDelivery,
  scope: "integrations:read",
  request: () => ({ params: IntegrationParams(), query: DeliveryQuery() }),
});

const get = operation({
  method: "get",
  path: `${INTEGRATION}/deliveries/{delivery_id}`,
  operationId: "getDelivery",
  resource: true,
  present: presentDeliveryInFull,
  version: unchanging,
  scope: "integrations:read",
  request: () => ({ params: DeliveryParams() }),
});

const redelivery = operation({
  method: "post",
  path: `${INTEGRATION}/deliveries/{delivery_id}/redeliver`,
  operationId: "redeliver",
  status: 201,
  resource: true,
  present: presentDelivery,
  version: unchanging,
  location: get,
  scope: "integrations:write",
  request: () => ({ params: DeliveryParams() }),
});

const ping = operation({
  method: "post",
  path: `${INTEGRATION}/ping`,
  operationId: "pingIntegration",
  status: 201,
  resource: true,
  present: presentDelivery,
  version: unchanging,
  location: get,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams() }),
});

export const deliveryRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) => {
    const page = { ...toPageRequest(query), statuses: query.status ?? [] };
    return listDeliveries(ctx, params.project_id, params.integration_id, page);
  })
  .handle(get, ({ ctx, params }) => getDelivery(ctx, toReference(params)))
  .handle(redelivery, ({ ctx, params }) => redeliver(ctx, toReference(params)))
  .handle(ping, ({ ctx, params }) =>
    pingIntegration(ctx, params.project_id, params.integration_id),
  );

function toReference(params: { project_id: string; integration_id: string; delivery_id: string }) {
  const { project_id: projectId, integration_id: integrationId, delivery_id: id } = params;
  return { projectId, integrationId, id };
}
