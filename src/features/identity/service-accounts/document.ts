import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { BadInput, LimitReached } from "../../../lib/errors.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { CHANGED, NEVER_OWNER, OWNS_PROJECT } from "./model.ts";
import { ServiceAccount, ServiceAccountList } from "./responses.ts";

const OWNER = new BadInput([{ path: "role", message: NEVER_OWNER }]);

const operations = {
  listServiceAccounts: {
    tags: ["Service accounts"],
    summary: "List the service accounts of an organization",
    role: "admin",
    notFound: ["organization"],
    responses: { 200: jsonReply(ServiceAccountList(), "A page of service accounts.") },
  },
  createServiceAccount: {
    tags: ["Service accounts"],
    summary: "Create a service account",
    role: "admin",
    changes: ["service accounts"],
    description:
      "It counts as a member. Give it a key with `POST /v1/orgs/{org_id}/api-keys` and its " +
      "`membership_id`, or let CI jobs act for it with a trust.",
    notFound: ["organization"],
    errors: {
      service_account_owner: OWNER,
      service_account_limit: new LimitReached(QUOTAS.members, "members"),
    },
    responses: { 201: jsonReply(ServiceAccount(), "The service account.") },
  },
  getServiceAccount: {
    tags: ["Service accounts"],
    summary: "Read a service account",
    role: "admin",
    notFound: ["organization", "service account"],
    responses: { 200: jsonReply(ServiceAccount(), "The service account.") },
  },
  updateServiceAccount: {
    tags: ["Service accounts"],
    summary: "Change a service account",
    role: "admin",
    changes: ["service accounts"],
    description: "A new role applies to the next request of each of its keys.",
    notFound: ["organization", "service account"],
    errors: {
      service_account_owner: OWNER,
      credential_not_full: NOT_FULL,
      service_account_changed: CHANGED,
    },
    responses: { 200: jsonReply(ServiceAccount(), "The service account.") },
  },
  deleteServiceAccount: {
    tags: ["Service accounts"],
    summary: "Delete a service account",
    role: "admin",
    changes: ["service accounts"],
    description:
      "Revokes its keys, and deletes its project roles and the trusts that name it. The only owner of a " +
      "project cannot be deleted.",
    notFound: ["organization", "service account"],
    errors: {
      service_account_owns_project: OWNS_PROJECT,
      service_account_changed: CHANGED,
    },
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Service accounts",
    description: "Memberships of programs. They remain when the people who created them leave.",
  },
];

export const document: FeatureDocument = { tags, operations };
