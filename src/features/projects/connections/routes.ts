import { jsonBody } from "../../../http/bodies.ts";
import { jsonWithTag } from "../../../http/entity-tags.ts";
import { operation } from "../../../http/operation.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { once } from "../../idempotency/index.ts";
import { presentProject } from "../index.ts";
import type { Documented } from "./document.ts";
import { ConnectProject } from "./schemas.ts";
import { connectProject, disconnectProject } from "./service.ts";

const connect = operation({
  method: "put",
  path: "/v1/projects/{project_id}/connection",
  operationId: "connectProject",
  record: true,
  scope: "projects:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(ConnectProject()) }),
});

const disconnect = operation({
  method: "patch",
  path: "/v1/projects/{project_id}/disconnect",
  operationId: "disconnectProject",
  status: 204,
  scope: "projects:write",
  request: () => ({ params: ProjectParams() }),
});

export const connectionRoutes = createRouter<Documented>()
  .openapi(connect, async (c) => {
    const { provider, region, ...rest } = c.req.valid("json");
    const project = await connectProject(c.env, c.req.valid("param").project_id, {
      provider,
      region,
      accountId: rest.account_id,
      roleArn: rest.role_arn,
      externalId: rest.external_id,
    });
    return jsonWithTag(c, project.recordVersion, presentProject(project), 200);
  })
  .openapi(disconnect, async (c) => {
    const { project_id } = c.req.valid("param");
    await once(c.env, disconnectProject, project_id);
    return c.body(null, 204);
  });
