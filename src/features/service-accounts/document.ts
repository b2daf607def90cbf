import type { FeatureDocument, OperationDocuments } from "../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../document/replies.ts";
import { BadInput, Conflict, LimitReached } from "../../lib/errors.ts";
import { QUOTAS } from "../../lib/resource-types.ts";
import { NOT_FULL } from "../audit/index.ts";
import { ServiceAccount, ServiceAccountList } from "./responses.ts";
import { OWNS_PROJECT } from "./service.ts";

const NEVER_OWNER = new BadInput([
  { path: "role", message: "Send member or admin: a service account is never an owner." },
]);

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
    description:
      "It counts as a member. Give it a key with `POST /v1/orgs/{org_id}/api-keys` and its " +
      "`membership_id`, or let CI jobs act for it with a trust.",
    notFound: ["organization"],
    errors: {
      service_account_owner: NEVER_OWNER,
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
    description: "A new role applies to the next request of each of its keys.",
    notFound: ["organization", "service account"],
    errors: {
      service_account_owner: NEVER_OWNER,
      credential_not_full: NOT_FULL,
      service_account_changed: new Conflict(
        "The service account has just changed. Read it again and retry.",
      ),
    },
    responses: { 200: jsonReply(ServiceAccount(), "The service account.") },
  },
  deleteServiceAccount: {
    tags: ["Service accounts"],
    summary: "Delete a service account",
    role: "admin",
    description:
      "Revokes its keys, and deletes its project roles and the trusts that name it. The only owner of a " +
      "project cannot be deleted.",
    notFound: ["organization", "service account"],
    errors: {
      service_account_owns_project: new Conflict(OWNS_PROJECT),
      service_account_changed: new Conflict(
        "The service account has just changed. Read it again and retry.",
      ),
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
