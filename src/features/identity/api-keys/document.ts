import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { BadInput, LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { IN_THE_PAST } from "../../../lib/schemas.ts";
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
  POLICY_CHANGED,
  TRUST_KEY,
} from "./model.ts";
import { ApiKey, ApiKeyList, ApiKeyPolicy, CreatedApiKey } from "./responses.ts";

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

const operations = {
  getApiKeyPolicy: {
    tags: ["API keys"],
    summary: "Read the rules for new API keys",
    role: "admin",
    notFound: ["organization"],
    responses: { 200: jsonReply(ApiKeyPolicy(), "The rules.") },
  },
  putApiKeyPolicy: {
    tags: ["API keys"],
    summary: "Set the rules for new API keys",
    description:
      "Needs the role `owner` in the organization. Applies to keys that are created or rotated from now " +
      "on. Existing keys keep their expiry, and so does the last owner's key when it is rotated.",
    notFound: ["organization"],
    errors: {
      needs_owner_of_organization: Unauthorized.role("owner"),
      policy_changed: POLICY_CHANGED,
    },
    responses: { 200: jsonReply(ApiKeyPolicy(), "The rules.") },
  },
  listApiKeys: {
    tags: ["API keys"],
    summary: "List the API keys of an organization",
    description:
      "A member without the role `admin`, and a key that is narrowed to projects or environments, get " +
      "the keys of their own membership.",
    notFound: ["organization"],
    responses: { 200: jsonReply(ApiKeyList(), "A page of API keys.") },
  },
  createApiKey: {
    tags: ["API keys"],
    summary: "Create an API key",
    role: "admin",
    changes: ["keys for others"],
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
      creator_changed: CREATOR_CHANGED,
      membership_pending: PENDING_MEMBER,
    },
    responses: { 201: jsonReply(CreatedApiKey(), "The key. It is not shown again.") },
  },
  getApiKey: {
    tags: ["API keys"],
    summary: "Read an API key",
    description: `${OWN_OR_ADMIN} The response does not contain the key itself. A revoked key has \`revoked_at\`.`,
    notFound: ["organization", "API key"],
    errors: NEEDS_ADMIN,
    responses: { 200: jsonReply(ApiKey(), "The API key.") },
  },
  updateApiKey: {
    tags: ["API keys"],
    summary: "Rename or narrow an API key",
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
      key_renamed: NAME_CHANGED,
      key_narrowed: KEY_NARROWED,
      descendant_outlives: DESCENDANT_OUTLIVES,
      descendant_exceeds: DESCENDANT_EXCEEDS,
    },
    responses: { 200: jsonReply(ApiKey(), "The API key.") },
  },
  rotateApiKey: {
    tags: ["API keys"],
    summary: "Rotate an API key",
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
      key_changed: KEY_CHANGED,
      key_outlived: OUTLIVED,
      key_of_trust: TRUST_KEY,
    },
    changes: ["keys for others"],
    responses: { 201: jsonReply(CreatedApiKey(), "The new key. It is not shown again.") },
  },
  revokeApiKey: {
    tags: ["API keys"],
    summary: "Revoke an API key",
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
      key_has_descendants: HAS_DESCENDANTS,
    },
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "API keys",
    description: "Credentials for one organization. Each key belongs to one membership.",
  },
];

export const document: FeatureDocument = { tags, operations };
