import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentIntegration, presentRotatedSecret, presentSecret } from "./presenters.ts";
import { CreateIntegration, IntegrationParams, UpdateIntegration } from "./schemas.ts";
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

const ALL = "/v1/projects/{project_id}/notification-integrations";
const ONE = `${ALL}/{integration_id}` as const;

const list = operation({
  method: "get",
  path: ALL,
  operationId: "listIntegrations",
  polled: true,
  presentEach: presentIntegration,
  scope: "integrations:read",
  request: () => ({ params: ProjectParams() }),
});

const get = operation({
  method: "get",
  path: ONE,
  operationId: "getIntegration",
  resource: true,
  present: presentIntegration,
  scope: "integrations:read",
  request: () => ({ params: IntegrationParams() }),
});

const create = operation({
  method: "post",
  path: ALL,
  operationId: "createIntegration",
  status: 201,
  resource: true,
  present: presentIntegration,
  presentSecrets: presentSecret,
  location: get,
  scope: "integrations:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(CreateIntegration()) }),
});

const update = operation({
  method: "patch",
  path: ONE,
  operationId: "updateIntegration",
  resource: true,
  present: presentIntegration,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams(), body: jsonBody(UpdateIntegration()) }),
});

const remove = operation({
  method: "delete",
  path: ONE,
  operationId: "deleteIntegration",
  status: 204,
  resource: true,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams() }),
});

const rotate = operation({
  method: "post",
  path: `${ONE}/rotate-secret`,
  operationId: "rotateIntegrationSecret",
  resource: true,
  present: presentIntegration,
  presentSecrets: presentRotatedSecret,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams() }),
});

const confirm = operation({
  method: "post",
  path: `${ONE}/confirm`,
  operationId: "confirmIntegration",
  status: 201,
  resource: true,
  present: presentIntegration,
  location: get,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams() }),
});

const resume = operation({
  method: "post",
  path: `${ONE}/resume`,
  operationId: "resumeIntegration",
  status: 201,
  resource: true,
  present: presentIntegration,
  location: get,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams() }),
});

export const integrationRoutes = createRouter<Documented>()
  .handle(list, async ({ ctx, params }) => ({
    rows: await listIntegrations(ctx, params.project_id),
    next: undefined,
  }))
  .handle(create, ({ ctx, params, body: { configuration, url, ...lists } }) => {
    const input = { configuration, url, filters: toFilters(lists) };
    return createIntegration(ctx, params.project_id, input);
  })
  .handle(get, ({ ctx, params }) => getIntegration(ctx, params.project_id, params.integration_id))
  .handle(update, ({ ctx, params, body: { configuration = {}, url, ...lists } }) => {
    const change = { configuration, url, filters: toFilters(lists) };
    return updateIntegration(ctx, params.project_id, params.integration_id, change);
  })
  .handle(remove, ({ ctx, params }) =>
    deleteIntegration(ctx, params.project_id, params.integration_id),
  )
  .handle(rotate, ({ ctx, params }) => rotateSecret(ctx, params.project_id, params.integration_id))
  .handle(confirm, ({ ctx, params }) =>
    confirmIntegration(ctx, params.project_id, params.integration_id),
  )
  .handle(resume, ({ ctx, params }) =>
    resumeIntegration(ctx, params.project_id, params.integration_id),
  );

function toFilters(lists: {
  environment_ids?: string[] | null | undefined;
  stack_ids?: string[] | null | undefined;
}) {
  return { environmentIds: lists.environment_ids, stackIds: lists.stack_ids };
}
