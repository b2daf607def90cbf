import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { presentProject } from "../../projects/projects/index.ts";
import type { Documented } from "./document.ts";
import { ConnectProject } from "./schemas.ts";
import { connectProject, disconnectProject } from "./service.ts";

const connect = operation({
  method: "put",
  path: "/v1/projects/{project_id}/connection",
  operationId: "connectProject",
  resource: true,
  present: presentProject,
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
  .handle(connect, ({ ctx, params, body: { provider, region, ...rest } }) =>
    connectProject(ctx, params.project_id, {
      provider,
      region,
      accountId: rest.account_id,
      roleArn: rest.role_arn,
      externalId: rest.external_id,
    }),
  )
  .handle(disconnect, ({ ctx, params }) => disconnectProject(ctx, params.project_id));
