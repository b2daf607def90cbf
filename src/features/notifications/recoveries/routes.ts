import { jsonBody } from "../../../http/bodies.ts";
import { jsonWithTag, setLocation } from "../../../http/entity-tags.ts";
import { operation } from "../../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { createRouter } from "../../../http/router.ts";
import { once } from "../../idempotency/index.ts";
import { IntegrationParams } from "../integrations/index.ts";
import type { Documented } from "./document.ts";
import { presentRecovery } from "./presenters.ts";
import { CreateRecovery, RecoveryParams } from "./schemas.ts";
import { createRecovery, getRecovery, listRecoveries } from "./service.ts";

const ALL =
  "/v1/projects/{project_id}/notification-integrations/{integration_id}/recoveries" as const;

const create = operation({
  method: "post",
  path: ALL,
  operationId: "createRecovery",
  status: 201,
  record: true,
  scope: "integrations:write",
  request: () => ({ params: IntegrationParams(), body: jsonBody(CreateRecovery()) }),
});

const list = operation({
  method: "get",
  path: ALL,
  operationId: "listRecoveries",
  polled: true,
  scope: "integrations:read",
  request: () => ({ params: IntegrationParams(), query: ListQuery() }),
});

const get = operation({
  method: "get",
  path: `${ALL}/{recovery_id}`,
  operationId: "getRecovery",
  record: true,
  scope: "integrations:read",
  request: () => ({ params: RecoveryParams() }),
});

/** No caller changes a recovery. */
const VERSION = 1;

export const recoveryRoutes = createRouter<Documented>()
  .openapi(create, async (c) => {
    const { project_id, integration_id } = c.req.valid("param");
    const { since, until } = c.req.valid("json");
    const period = {
      since: Date.parse(since),
      until: until === undefined ? undefined : Date.parse(until),
    };
    const row = await once(c.env, createRecovery, project_id, integration_id, period);
    setLocation(c, get, { project_id, integration_id, recovery_id: row.id });
    return jsonWithTag(c, VERSION, presentRecovery(row), 201);
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
    return jsonWithTag(c, VERSION, presentRecovery(row), 200);
  });
