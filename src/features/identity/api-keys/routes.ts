import type { z } from "@hono/zod-openapi";
import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { createdWithSecrets, done, json, noContent, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { BadInput, LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { IN_THE_PAST } from "../../../lib/time-messages.ts";
import { LAST_OWNER_KEY } from "../credentials/index.ts";
import { PENDING_MEMBER } from "../memberships/index.ts";
import { exceedingKey, LESS_ACCESS, ROTATES_ITSELF, SESSION_ROTATES } from "./authority.ts";
import {
  CREATOR_CHANGED,
  DESCENDANT_EXCEEDS,
  DESCENDANT_OUTLIVES,
  HAS_DESCENDANTS,
  KEEP_AT_MOST,
  KEY_CHANGED,
  KEY_NARROWED,
  NAME_CHANGED,
  OUTLIVED,
  OUTSIDE_PROJECTS,
  TRUST_KEY,
} from "./model.ts";
import { presentApiKey, presentKeyOrTombstone, presentSecretKey, versionOf } from "./presenters.ts";
import { rotateKey } from "./rotation.ts";
import {
  ApiKey,
  ApiKeyList,
  ApiKeyParams,
  CreateApiKey,
  CreatedApiKey,
  KeyListQuery,
  RevokeQuery,
  RotateApiKey,
  UpdateApiKey,
} from "./schemas.ts";
import { createKey, getKey, listKeys, revokeKey } from "./service.ts";
import { updateKey } from "./update.ts";

const OWN_OR_ADMIN =
  "Needs the role `admin` in the organization for a key of another membership. A key that is " +
  "narrowed to projects or environments has access to the keys of its own membership only.";

const NEEDS_ADMIN = { needs_admin: Unauthorized.role("admin") };

const NEEDS_OWNER = { needs_owner_of_organization: Unauthorized.role("owner") };

const LAST_KEY = { last_owner_key: LAST_OWNER_KEY };

const EXCEEDS = { key_exceeds_yours: exceedingKey("the scope deployments:write") };

const EXPIRES = {
  key_expires_in_the_past: new BadInput([{ path: "expires_at", message: IN_THE_PAST }]),
};

const KEY_LIMITS = {
  api_key_limit: new LimitReached(QUOTAS.api_keys, "api keys"),
  membership_key_limit: new LimitReached(
    LIMITS.apiKeysOfMembership.value,
    "API keys of a membership",
  ),
};

const list = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys",
  operationId: "listApiKeys",
  tags: ["API keys"],
  summary: "List the API keys of an organization",
  description:
    "A member without the role `admin`, and a key that is narrowed to projects or environments, get " +
    "the keys of their own membership.",
  access: { scope: "keys:read" },
  request: { params: OrganizationParams, query: KeyListQuery },
  responses: { 200: json(ApiKeyList, "A page of API keys.") },
  notFound: ["organization"],
});

const get = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "getApiKey",
  tags: ["API keys"],
  summary: "Read an API key",
  description: `${OWN_OR_ADMIN} The response does not contain the key itself. A revoked key has \`revoked_at\`.`,
  access: { scope: "keys:read" },
  resource: true,
  request: { params: ApiKeyParams },
  responses: { 200: json(ApiKey, "The API key.") },
  notFound: ["organization", "API key"],
  errors: NEEDS_ADMIN,
});

const create = apiRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/api-keys",
  operationId: "createApiKey",
  tags: ["API keys"],
  summary: "Create an API key",
  description:
    "The key may be for another membership. It descends from the key that creates it: it cannot have a " +
    "higher role, more scopes, projects or environments, and expires no later.",
  access: { scope: "keys:write", role: "admin" },
  resource: true,
  changes: ["keys for others"],
  request: { params: OrganizationParams, body: jsonBody(CreateApiKey) },
  responses: { 201: json(CreatedApiKey, "The key. It is not shown again.") },
  notFound: ["organization", "membership", "project", "environment"],
  errors: {
    ...EXPIRES,
    key_role_above_membership: new BadInput([
      { path: "role", message: "Send at most the membership's role, which is member." },
    ]),
    ...NEEDS_OWNER,
    ...EXCEEDS,
    ...KEY_LIMITS,
    creator_changed: CREATOR_CHANGED,
    membership_pending: PENDING_MEMBER,
  },
});

const update = apiRoute({
  method: "patch",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "updateApiKey",
  tags: ["API keys"],
  summary: "Rename or narrow an API key",
  description:
    `${OWN_OR_ADMIN} Needs at least its access. A key never gets more than it has: it can only expire earlier, and keep some of its ` +
    "scopes, projects and environments. Its next request has what it keeps. What descends from it must " +
    "not have more or last longer: this is a `conflict`. An organization keeps at least one key of an " +
    "owner that does not expire and is not narrowed.",
  access: { scope: "keys:write" },
  resource: true,
  request: { params: ApiKeyParams, body: jsonBody(UpdateApiKey) },
  responses: { 200: json(ApiKey, "The API key.") },
  notFound: ["organization", "API key", "project", "environment"],
  errors: {
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
    wider_key: new BadInput([{ path: "scopes", message: KEEP_AT_MOST.scopes }]),
    environment_outside: new BadInput([{ path: "environment_ids", message: OUTSIDE_PROJECTS }]),
    ...NEEDS_ADMIN,
    ...NEEDS_OWNER,
    less_access: LESS_ACCESS,
    ...LAST_KEY,
    key_renamed: NAME_CHANGED,
    key_narrowed: KEY_NARROWED,
    descendant_outlives: DESCENDANT_OUTLIVES,
    descendant_exceeds: DESCENDANT_EXCEEDS,
  },
});

const rotate = apiRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}/rotate",
  operationId: "rotateApiKey",
  tags: ["API keys"],
  summary: "Rotate an API key",
  description: `${OWN_OR_ADMIN} Creates a key with the same membership, role, scopes and boundaries, \
and with the place of the old key in its lineage: what descends from the old key descends from the new \
one, and is in the families of the old key and of the key that rotates it. The old key is revoked, or \
expires after the overlap; the key that it was rotated to earlier, and the one that it replaced, end. \
Another key cannot have more than the key that rotates it. A narrowed or expiring key, and that of a \
program, only rotates itself, and a session rotates none.`,
  access: { scope: "keys:write" },
  resource: true,
  changes: ["keys for others"],
  request: { params: ApiKeyParams, body: jsonBody(RotateApiKey) },
  responses: { 201: json(CreatedApiKey, "The new key. It is not shown again.") },
  notFound: ["organization", "API key"],
  errors: {
    ...EXPIRES,
    ...NEEDS_ADMIN,
    ...NEEDS_OWNER,
    ...EXCEEDS,
    rotates_itself: ROTATES_ITSELF,
    session_rotates: SESSION_ROTATES,
    ...KEY_LIMITS,
    ...LAST_KEY,
    key_changed: KEY_CHANGED,
    key_outlived: OUTLIVED,
    key_of_trust: TRUST_KEY,
  },
});

const revoke = apiRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "revokeApiKey",
  tags: ["API keys"],
  summary: "Revoke an API key",
  description:
    `${OWN_OR_ADMIN} The key's next request is refused. An organization keeps at least one key with ` +
    "the role `owner` that belongs to an owner, does not expire, and is not narrowed. Needs at least the " +
    "access of the key. If the key has a family, `descendants` is required: `GET …/family` lists what " +
    "`revoke` ends; the key itself may be revoked already. Only an owner revokes across organizations.",
  access: { scope: "keys:write" },
  resource: true,
  request: { params: ApiKeyParams, query: RevokeQuery },
  responses: { 204: noContent },
  notFound: ["organization", "API key"],
  errors: {
    ...NEEDS_ADMIN,
    ...NEEDS_OWNER,
    less_access: LESS_ACCESS,
    ...LAST_KEY,
    key_has_descendants: HAS_DESCENDANTS,
  },
});

export const apiKeyRoutes = createRouter()
  .openapi(list, (c) => {
    const query = c.req.valid("query");
    const request = { ...toNamedPageRequest(query), status: query.status ?? "active" };
    return page(
      c,
      (ctx) => listKeys(ctx, c.req.valid("param").org_id, request),
      presentKeyOrTombstone,
    );
  })
  .openapi(create, (c) =>
    createdWithSecrets(
      c,
      get.path,
      (ctx) => createKey(ctx, c.req.valid("param").org_id, toNewKey(c.req.valid("json"))),
      presentApiKey,
      { secrets: presentSecretKey },
    ),
  )
  .openapi(get, (c) => {
    const params = c.req.valid("param");
    return ok(c, (ctx) => getKey(ctx, params.org_id, params.key_id), presentKeyOrTombstone, {
      version: versionOf,
    });
  })
  .openapi(update, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) => updateKey(ctx, params.org_id, params.key_id, toUpdate(c.req.valid("json"))),
      presentApiKey,
    );
  })
  .openapi(rotate, (c) => {
    const params = c.req.valid("param");
    const { overlap_seconds: overlapSeconds = 0, expires_at } = c.req.valid("json");
    const input = { overlapSeconds, expiresAt: toTime(expires_at) };
    return createdWithSecrets(
      c,
      get.path,
      (ctx) => rotateKey(ctx, params.org_id, params.key_id, input),
      presentApiKey,
      { secrets: presentSecretKey },
    );
  })
  .openapi(revoke, (c) => {
    const params = c.req.valid("param");
    return done(c, (ctx) =>
      revokeKey(ctx, params.org_id, params.key_id, c.req.valid("query").descendants),
    );
  });

function toUpdate(body: z.output<typeof UpdateApiKey>) {
  const { name, scopes, project_ids: projectIds, environment_ids: environmentIds } = body;
  return {
    name,
    narrowed: { scopes, projectIds, environmentIds, expiresAt: toTime(body.expires_at) },
  };
}

function toNewKey(body: z.output<typeof CreateApiKey>) {
  return {
    name: body.name,
    membershipId: body.membership_id,
    role: body.role,
    expiresAt: toTime(body.expires_at),
    narrowing: {
      scopes: body.scopes,
      projectIds: body.project_ids,
      environmentIds: body.environment_ids,
    },
  };
}

function toTime(timestamp: string | null | undefined): number | undefined {
  return timestamp ? Date.parse(timestamp) : undefined;
}
