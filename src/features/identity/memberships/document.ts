import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { LAST_OWNER_KEY } from "../credentials/model.ts";
import {
  CREATOR_CHANGED,
  LAST_OWNER,
  MEMBER_EXISTS,
  ROLE_CHANGED,
  SERVICE_ACCOUNT_AS_OWNER,
} from "./model.ts";
import { Member, MemberList } from "./responses.ts";

const OWNERS = "Adding, changing or removing an owner needs the role `owner`.";

const operations = {
  listMembers: {
    tags: ["Organizations"],
    summary: "List the members of an organization",
    role: "admin",
    notFound: ["organization"],
    responses: { 200: jsonReply(MemberList(), "A page of members.") },
  },
  addMember: {
    tags: ["Organizations"],
    summary: "Add a member to an organization",
    role: "admin",
    description:
      `Needs a full credential (\`full\` in \`GET /v1/whoami\`). ${OWNERS} The member gets an account of its own in this organization, with the name and the ` +
      "profile of the request, also if the person is a member of other organizations. Where the " +
      "deployment does not trust administrators (`TRUST_ADMINS`), the member is `pending`: invite the " +
      "person instead.",
    notFound: ["organization"],
    errors: {
      needs_owner_of_organization: Unauthorized.role("owner"),
      credential_not_full: NOT_FULL,
      creator_changed: CREATOR_CHANGED,
      member_exists: MEMBER_EXISTS,
      member_limit: new LimitReached(QUOTAS.members, "members"),
    },
    responses: { 201: jsonReply(Member(), "The member.") },
  },
  getMember: {
    tags: ["Organizations"],
    summary: "Read a member of an organization",
    role: "admin",
    notFound: ["organization", "membership"],
    responses: { 200: jsonReply(Member(), "The member.") },
  },
  replaceMember: {
    tags: ["Organizations"],
    summary: "Replace the role of a member in an organization",
    role: "admin",
    changes: ["organization roles"],
    description:
      `Giving a higher role needs a full credential (\`full\` in \`GET /v1/whoami\`). ${OWNERS} The last owner, and the owner with the last owner's key, cannot get another role. A ` +
      "service account cannot be an owner.",
    notFound: ["organization", "membership"],
    errors: {
      needs_owner_of_organization: Unauthorized.role("owner"),
      credential_not_full: NOT_FULL,
      last_owner: LAST_OWNER,
      last_owner_key: LAST_OWNER_KEY,
      role_changed: ROLE_CHANGED,
      service_account_as_owner: SERVICE_ACCOUNT_AS_OWNER,
    },
    responses: { 200: jsonReply(Member(), "The member.") },
  },
  removeMember: {
    tags: ["Organizations"],
    summary: "Remove a member from an organization",
    role: "admin",
    description:
      `${OWNERS} Deletes the member's keys and project roles too. What the member has made for others stays, ` +
      "unless `descendants=revoke` ends it, which needs a full credential. The last owner of the organization or of a project, and the " +
      "owner with the last owner's key, cannot be removed.",
    notFound: ["organization", "membership"],
    errors: {
      credential_not_full: NOT_FULL,
      needs_owner_of_organization: Unauthorized.role("owner"),
      last_owner: LAST_OWNER,
      last_owner_key: LAST_OWNER_KEY,
      role_changed: ROLE_CHANGED,
    },
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };
