import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { LAST_OWNER_OF_SOME, SERVICE_ACCOUNT } from "./model.ts";
import { Account, WhoAmI } from "./responses.ts";

const OF_PERSON = { credential_not_full: NOT_FULL, service_account: SERVICE_ACCOUNT };

const NEEDS_FULL = "Needs a full credential: `full` in `GET /v1/whoami`.";

const operations = {
  whoAmI: {
    tags: ["Account"],
    summary: "Read what your key may do",
    description:
      "The organization, the membership and the permissions of the key, and its rate limits.",
    responses: { 200: jsonReply(WhoAmI(), "The sender of the request.") },
  },
  getAccount: {
    tags: ["Account"],
    summary: "Read your account",
    description:
      "The person or the program that the key acts for. The address is private: it is shown only with a " +
      "key that the person has made.",
    responses: { 200: jsonReply(Account(), "The account of the key's membership.") },
  },
  updateAccount: {
    tags: ["Account"],
    summary: "Change your account",
    description:
      "An absent field stays, and null clears a field (RFC 7396). The audit log of each organization of " +
      `the account records it. ${NEEDS_FULL}`,
    errors: OF_PERSON,
    responses: { 200: jsonReply(Account(), "The account.") },
  },
  deleteAccount: {
    tags: ["Account"],
    summary: "Delete your account",
    description:
      "Ends the account's memberships in every organization, revokes their keys, and erases the name, " +
      "the address and the profile, also in the audit log and in the changelogs. Only the account's ID " +
      "remains. The last owner of an organization or of a project cannot be deleted. " +
      NEEDS_FULL,
    errors: {
      ...OF_PERSON,
      last_owner_of_some: LAST_OWNER_OF_SOME,
    },
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Account",
    description: "Who a key belongs to, and what a person can do with their own account.",
  },
];

export const document: FeatureDocument = { tags, operations };
