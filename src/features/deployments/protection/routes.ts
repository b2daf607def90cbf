import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { EnvironmentParams } from "../../../http/params.ts";
import { json, ok } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { ReplaceProtection } from "./input-schemas.ts";
import { presentProtection } from "./presenters.ts";
import { EnvironmentProtection } from "./schemas.ts";
import { getProtection, replaceProtection } from "./service.ts";

const PATH = "/v1/environments/{environment_id}/protection";

const get = apiRoute({
  method: "get",
  path: PATH,
  operationId: "getProtection",
  tags: ["Environments"],
  summary: "Read the rules of an environment",
  access: { scope: "environments:read", role: "viewer" },
  resource: true,
  request: { params: EnvironmentParams },
  responses: { 200: json(EnvironmentProtection, "The rules.") },
  notFound: ["environment"],
});

const replace = apiRoute({
  method: "put",
  path: PATH,
  operationId: "replaceProtection",
  tags: ["Environments"],
  summary: "Replace the rules of an environment",
  description:
    "Needs a full credential (`full` in `GET /v1/whoami`). Rules that are absent are removed. " +
    "Deployments that are queued keep the earlier rules beside the new ones.",
  access: { scope: "environments:write", role: "owner" },
  resource: true,
  changes: ["rules"],
  request: { params: EnvironmentParams, body: jsonBody(ReplaceProtection) },
  responses: { 200: json(EnvironmentProtection, "The rules.") },
  notFound: ["environment", "membership", "other environment in the project", "trust"],
  errors: {
    credential_not_full: NOT_FULL,
    kept_rules_limit: new LimitReached(
      LIMITS.keptRules.value,
      "earlier rules that a queued deployment keeps",
    ),
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
  },
});

export const protectionRoutes = createRouter()
  .openapi(get, (c) =>
    ok(c, (ctx) => getProtection(ctx, c.req.valid("param").environment_id), presentProtection),
  )
  .openapi(replace, (c) =>
    ok(
      c,
      (ctx) => replaceProtection(ctx, c.req.valid("param").environment_id, c.req.valid("json")),
      presentProtection,
    ),
  );
