import { CACHE_TTL_MS } from "../../../auth/credential-cache.ts";
import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { Conflict, LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { CREATOR_CHANGED } from "../api-keys/index.ts";
import { DEPLOYING } from "./deletion.ts";
import { CREATION_DISABLED, OWNED } from "./model.ts";
import { CreatedOrganization, Organization, OrganizationList } from "./responses.ts";

const operations = {
  listOrganizations: {
    tags: ["Organizations"],
    summary: "List organizations",
    description: "Returns the organization of the key: a key belongs to one organization.",
    responses: { 200: jsonReply(OrganizationList(), "A page of organizations.") },
  },
  createOrganization: {
    tags: ["Organizations"],
    summary: "Create an organization",
    description:
      "The account of the key becomes its owner. The response contains an owner key of the new " +
      "organization, because the key of the request belongs to another one. That key, and what it makes, " +
      "is in the family of the key of the request: revoking this with `descendants=revoke` ends it, too. " +
      "Needs a full credential: `full` in `GET /v1/whoami`.",
    errors: {
      credential_not_full: NOT_FULL,
      creator_changed: CREATOR_CHANGED,
      creation_disabled: CREATION_DISABLED,
      owned_organization_limit: new LimitReached(LIMITS.ownedOrganizations.value, OWNED),
    },
    responses: {
      201: jsonReply(
        CreatedOrganization(),
        "The organization and its first key, which is not shown again.",
      ),
    },
  },
  getOrganization: {
    tags: ["Organizations"],
    summary: "Read an organization",
    notFound: ["organization"],
    responses: { 200: jsonReply(Organization(), "The organization.") },
  },
  updateOrganization: {
    tags: ["Organizations"],
    summary: "Rename an organization",
    role: "admin",
    description: "A field that is absent stays as it is.",
    notFound: ["organization"],
    responses: { 200: jsonReply(Organization(), "The organization.") },
  },
  deleteOrganization: {
    tags: ["Organizations"],
    summary: "Delete an organization",
    description:
      "Needs the role `owner` in the organization. Its keys and runner tokens, the key of the request " +
      "included, stop working at once; if CI jobs have thousands of them, some of theirs stop within " +
      `${durationOf(CACHE_TTL_MS)}. Nothing is sent to its integrations any more. All of its data is deleted, in the ` +
      "background. Its members keep their accounts if they are members of other organizations or have " +
      "proven their address. It counts toward the organizations that its owners own for another " +
      `${durationOf(LIMITS.purgeSettlesMs.value)}. An unfinished deployment is a \`conflict\`. This cannot be undone, and whoever ` +
      "deletes the last organization of an installation has no key left.",
    notFound: ["organization"],
    errors: {
      needs_owner_of_organization: Unauthorized.role("owner"),
      organization_deploying: new Conflict(DEPLOYING),
    },
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [{ name: "Organizations", description: "Tenants and their members." }];

export const document: FeatureDocument = { tags, operations };
