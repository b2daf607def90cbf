import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag, setLocation } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { EnvironmentParams, ProjectParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
import type { Documented } from "./document.ts";
import { presentEnvironment } from "./presenters.ts";
import { CreateEnvironment, ReplaceEnvironment, UpdateEnvironment } from "./schemas.ts";
import {
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  replaceEnvironment,
  updateEnvironment,
} from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/projects/{project_id}/environments",
  operationId: "listEnvironments",
  polled: true,
  scope: "environments:read",
  request: () => ({ params: ProjectParams(), query: namedListQuery(LIMITS.slugLength.value) }),
});

const create = operation({
  method: "post",
  path: "/v1/projects/{project_id}/environments",
  operationId: "createEnvironment",
  status: 201,
  record: true,
  scope: "environments:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(CreateEnvironment()) }),
});

const get = operation({
  method: "get",
  path: "/v1/environments/{environment_id}",
  operationId: "getEnvironment",
  record: true,
  scope: "environments:read",
  request: () => ({ params: EnvironmentParams() }),
});

const replace = operation({
  method: "put",
  path: "/v1/environments/{environment_id}",
  operationId: "replaceEnvironment",
  record: true,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(ReplaceEnvironment()) }),
});

const update = operation({
  method: "patch",
  path: "/v1/environments/{environment_id}",
  operationId: "updateEnvironment",
  record: true,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams(), body: jsonBody(UpdateEnvironment()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/environments/{environment_id}",
  operationId: "deleteEnvironment",
  status: 204,
  record: true,
  scope: "environments:write",
  request: () => ({ params: EnvironmentParams() }),
});

export const environmentRoutes = createRouter<Documented>()
  .openapi(list, async (c) => {
    const page = toNamedPageRequest(c.req.valid("query"));
    const environments = await listEnvironments(c.env, c.req.valid("param").project_id, page);
    return c.json(toEnvelope(environments, presentEnvironment), 200);
  })
  .openapi(create, async (c) => {
    const { project_id } = c.req.valid("param");
    const input = c.req.valid("json");
    const environment = await once(c.env, createEnvironment, project_id, input);
    setLocation(c, get, { environment_id: environment.id });
    return jsonWithTag(c, environment.recordVersion, presentEnvironment(environment), 201);
  })
  .openapi(get, async (c) => {
    const environment = await getEnvironment(c.env, c.req.valid("param").environment_id);
    return jsonWithTag(c, environment.recordVersion, presentEnvironment(environment), 200);
  })
  .openapi(replace, async (c) => {
    const { environment_id } = c.req.valid("param");
    const environment = await replaceEnvironment(c.env, environment_id, c.req.valid("json"));
    return jsonWithTag(c, environment.recordVersion, presentEnvironment(environment), 200);
  })
  .openapi(update, async (c) => {
    const { environment_id } = c.req.valid("param");
    const change = c.req.valid("json");
    const environment = await once(c.env, updateEnvironment, environment_id, change);
    return jsonWithTag(c, environment.recordVersion, presentEnvironment(environment), 200);
  })
  .openapi(remove, async (c) => {
    await deleteEnvironment(c.env, c.req.valid("param").environment_id);
    return c.body(null, 204);
  });
