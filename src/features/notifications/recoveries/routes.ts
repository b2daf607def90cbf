import { jsonBody } from "../../../http/bodies.ts";
import { operation, unchanging } from "../../../http/operation.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { createRouter } from "../../../http/router.ts";
import { IntegrationParams } from "../integrations/index.ts";
import type { Documented } from "./document.ts";
import { presentRecovery } from "./presenters.ts";
import { CreateRecovery, RecoveryParams } from "./schemas.ts";
import { createRecovery, getRecovery, listRecoveries } from "./service.ts";

const ALL =
  "/v1/projects/{project_id}/notification-integrations/{integration_id}/recoveries" as const;

const get = operation({
  method: "get",
  path: `${ALL}/{recovery_id}`,
  operationId: "getRecovery",
  resource: true,
  present: presentRecovery,
  version: unchanging,
  scope: "integrations:read",
  request: () => ({ params: RecoveryParams() }),
});

const create = operation({
  method: "post",
  path: ALL,
  operationId: "createRecovery",
  status: 201,
  resource: true,
  present: presentRecovery,
  version: unchanging,
  location: get,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams(), body: jsonBody(CreateRecovery()) }),
});

const list = operation({
  method: "get",
  path: ALL,
  operationId: "listRecoveries",
  polled: true,
  presentEach: presentRecovery,
  scope: "integrations:read",
  request: () => ({ params: IntegrationParams(), query: ListQuery() }),
});

export const recoveryRoutes = createRouter<Documented>()
  .handle(create, ({ ctx, params, body: { since, until } }) => {
    const period = {
      since: Date.parse(since),
      until: until === undefined ? undefined : Date.parse(until),
    };
    return createRecovery(ctx, params.project_id, params.integration_id, period);
  })
  .handle(list, ({ ctx, params, query }) =>
    listRecoveries(ctx, params.project_id, params.integration_id, toPageRequest(query)),
  )
  .handle(get, ({ ctx, params: { project_id, integration_id, recovery_id: id } }) =>
    getRecovery(ctx, { projectId: project_id, integrationId: integration_id, id }),
  );
