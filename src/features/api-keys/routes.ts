import type { Context } from "hono";
import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { BadInput, Conflict, LimitReached, Unauthorized } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { Output } from "../../lib/schemas.ts";
import { once } from "../idempotency/index.ts";
import { LAST_OWNER_KEY, PENDING_MEMBER } from "../memberships/index.ts";
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
import { presentCreatedApiKey, presentKeyRecord, versionOf } from "./presenters.ts";
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
const LAST_KEY = { last_owner_key: new Conflict(LAST_OWNER_KEY) };
const EXCEEDS = { key_exceeds_yours: exceedingKey("the scope deployments:write") };
const EXPIRES = {
  key_expires_in_the_past: new BadInput([
    { path: "expires_at", message: "Send a time in the future." },
  ]),
};
const KEY_LIMITS = {
  api_key_limit: new LimitReached(LIMITS.apiKeys.value, "api keys"),
  membership_key_limit: new LimitReached(
    LIMITS.apiKeysOfMembership.value,
    "API keys of a membership",
  ),
};

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys",
  operationId: "listApiKeys",
  tags: ["API keys"],
  summary: "List the API keys of an organization",
  scope: "keys:read",
  description:
    "A member without the role `admin`, and a key that is narrowed to projects or environments, get " +
    "the keys of their own membership.",
  notFound: ["organization"],
  request: { params: OrganizationParams(), query: KeyListQuery() },
  responses: { 200: jsonReply(ApiKeyList(), "A page of API keys.") },
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/api-keys",
  operationId: "createApiKey",
  tags: ["API keys"],
  summary: "Create an API key",
  record: true,
  role: "admin",
  scope: "keys:write",
  description:
    "The key may be for another membership. It descends from the key that creates it: it cannot have a " +
    "higher role, more scopes, projects or environments, and expires no later.",
  notFound: ["organization", "membership", "project", "environment"],
  errors: {
    ...EXPIRES,
    key_role_above_membership: new BadInput([
      { path: "role", message: "Send at most the membership's role, which is member." },
    ]),
    ...NEEDS_OWNER,
    ...EXCEEDS,
    ...KEY_LIMITS,
    creator_changed: new Conflict(CREATOR_CHANGED),
    membership_pending: new Conflict(PENDING_MEMBER),
  },
  request: { params: OrganizationParams(), body: jsonBody(CreateApiKey()) },
  responses: { 201: jsonReply(CreatedApiKey(), "The key. It is not shown again.") },
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "getApiKey",
  tags: ["API keys"],
  summary: "Read an API key",
  record: true,
  scope: "keys:read",
  description: `${OWN_OR_ADMIN} The response does not contain the key itself. A revoked key has \`revoked_at\`.`,
  notFound: ["organization", "API key"],
  errors: NEEDS_ADMIN,
  request: { params: ApiKeyParams() },
  responses: { 200: jsonReply(ApiKey(), "The API key.") },
});

const update = operation({
  method: "patch",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "updateApiKey",
  tags: ["API keys"],
  summary: "Rename or narrow an API key",
  record: true,
  scope: "keys:write",
  description:
    `${OWN_OR_ADMIN} Needs at least its access. A key never gets more than it has: it can only expire earlier, and keep some of its ` +
    "scopes, projects and environments. Its next request has what it keeps. What descends from it must " +
    "not have more or last longer: this is a `conflict`. An organization keeps at least one key of an " +
    "owner that does not expire and is not narrowed.",
  notFound: ["organization", "API key", "project", "environment"],
  errors: {
    stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
    wider_key: new BadInput([{ path: "scopes", message: KEEP_AT_MOST.scopes }]),
    environment_outside: new BadInput([{ path: "environment_ids", message: OUTSIDE_PROJECTS }]),
    ...NEEDS_ADMIN,
    ...NEEDS_OWNER,
    less_access: LESS_ACCESS,
    ...LAST_KEY,
    key_renamed: new Conflict(NAME_CHANGED),
    key_narrowed: new Conflict(KEY_NARROWED),
    descendant_outlives: new Conflict(DESCENDANT_OUTLIVES),
    descendant_exceeds: new Conflict(DESCENDANT_EXCEEDS),
  },
  request: { params: ApiKeyParams(), body: jsonBody(UpdateApiKey()) },
  responses: { 200: jsonReply(ApiKey(), "The API key.") },
});

const rotate = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}/rotate",
  operationId: "rotateApiKey",
  tags: ["API keys"],
  summary: "Rotate an API key",
  record: true,
  scope: "keys:write",
  description: `${OWN_OR_ADMIN} Creates a key with the same membership, role, scopes and boundaries, \
and with the place of the old key in its lineage: what descends from the old key descends from the new \
one, and is in the families of the old key and of the key that rotates it. The old key is revoked, or \
expires after the overlap; the key that it was rotated to earlier, and the one that it replaced, end. \
Another key cannot have more than the key that rotates it. A narrowed or expiring key, and that of a \
program, only rotates itself, and a session rotates none.`,
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
    key_changed: new Conflict(KEY_CHANGED),
    key_outlived: new Conflict(OUTLIVED),
    key_of_trust: new Conflict(TRUST_KEY),
  },
  request: { params: ApiKeyParams(), body: jsonBody(RotateApiKey()) },
  responses: { 201: jsonReply(CreatedApiKey(), "The new key. It is not shown again.") },
});

const revoke = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}",
  operationId: "revokeApiKey",
  tags: ["API keys"],
  summary: "Revoke an API key",
  record: true,
  scope: "keys:write",
  description:
    `${OWN_OR_ADMIN} The key's next request is refused. An organization keeps at least one key with ` +
    "the role `owner` that belongs to an owner, does not expire, and is not narrowed. Needs at least the " +
    "access of the key. If the key has a family, `descendants` is required: `GET …/family` lists what " +
    "`revoke` ends; the key itself may be revoked already. Only an owner revokes across organizations.",
  notFound: ["organization", "API key"],
  errors: {
    ...NEEDS_ADMIN,
    ...NEEDS_OWNER,
    less_access: LESS_ACCESS,
    ...LAST_KEY,
    key_has_descendants: new Conflict(HAS_DESCENDANTS),
  },
  request: { params: ApiKeyParams(), query: RevokeQuery() },
  responses: { 204: NO_CONTENT },
});

export const apiKeyRoutes = createRouter()
  .openapi(list, async (c) => {
    const { org_id } = c.req.valid("param");
    const query = c.req.valid("query");
    const page = { ...toNamedPageRequest(query), status: query.status ?? "active" };
    return c.json(toEnvelope(await listKeys(c.env, org_id, page), presentKeyRecord), 200);
  })
  .openapi(create, async (c) => {
    const { org_id } = c.req.valid("param");
    const input = toNewKey(c.req.valid("json"));
    const created = await once(c.env, createKey, org_id, input);
    return c.json(await presentAndLocate(c, created), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, key_id } = c.req.valid("param");
    return c.json(await tagKey(c, await getKey(c.env, org_id, key_id)), 200);
  })
  .openapi(update, async (c) => {
    const { org_id, key_id } = c.req.valid("param");
    const change = toUpdate(c.req.valid("json"));
    const key = await once(c.env, updateKey, org_id, key_id, change);
    return c.json(await tagKey(c, key), 200);
  })
  .openapi(rotate, async (c) => {
    const { org_id, key_id } = c.req.valid("param");
    const { overlap_seconds: overlapSeconds = 0, expires_at } = c.req.valid("json");
    const input = { overlapSeconds, expiresAt: toTime(expires_at) };
    const rotated = await once(c.env, rotateKey, org_id, key_id, input);
    return c.json(await presentAndLocate(c, rotated), 201);
  })
  .openapi(revoke, async (c) => {
    const { org_id, key_id } = c.req.valid("param");
    await revokeKey(c.env, org_id, key_id, c.req.valid("query").descendants);
    return c.body(null, 204);
  });

function tagKey(c: Context, row: Parameters<typeof presentKeyRecord>[0]) {
  return tagged(c, versionOf(row), presentKeyRecord(row));
}

async function presentAndLocate(c: Context, created: Parameters<typeof presentCreatedApiKey>[0]) {
  const { id, organizationId } = created.row;
  setLocation(c, get, { org_id: organizationId, key_id: id });
  await tagKey(c, created.row);
  return presentCreatedApiKey(created);
}

function toUpdate(body: Output<typeof UpdateApiKey>) {
  const { name, scopes, project_ids: projectIds, environment_ids: environmentIds } = body;
  return {
    name,
    narrowed: { scopes, projectIds, environmentIds, expiresAt: toTime(body.expires_at) },
  };
}

function toNewKey(body: Output<typeof CreateApiKey>) {
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
