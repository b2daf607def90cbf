import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { BadInput, LimitReached, Unauthenticated, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { CREATOR_CHANGED, exceedingKey } from "../api-keys/index.ts";
import { PENDING_MEMBER } from "../memberships/index.ts";
import { MALFORMED } from "./model.ts";
import { ExchangedKey, Trust, TrustList } from "./responses.ts";
import { EXPIRING_KEY, ONE_TARGET } from "./service.ts";
import { issuerUnavailable, REFUSED } from "./token.ts";

const operations = {
  listTrusts: {
    tags: ["Trusts"],
    summary: "List the trusts of an organization",
    role: "admin",
    notFound: ["organization"],
    responses: { 200: jsonReply(TrustList(), "A page of trusts.") },
  },
  createTrust: {
    tags: ["Trusts"],
    summary: "Create a trust",
    role: "admin",
    changes: ["trusts"],
    description:
      "Its keys cannot do more than the key that creates it: the rules are those of creating an API key. " +
      "The issuer must answer with its keys.",
    notFound: ["organization", "membership", "runner pool", "project", "environment"],
    errors: {
      trust_without_target: new BadInput([{ path: "membership_id", message: ONE_TARGET }]),
      issuer_without_keys: new BadInput([
        {
          path: "issuer",
          message: "The issuer's keys cannot be read. It has no key for RS256 or ES256.",
        },
      ]),
      needs_owner_of_organization: Unauthorized.role("owner"),
      wider_trust: exceedingKey("all scopes"),
      trust_by_expiring_key: new Unauthorized(EXPIRING_KEY),
      trust_of_pending_membership: PENDING_MEMBER,
      creator_of_trust_revoked: CREATOR_CHANGED,
      trust_limit: new LimitReached(LIMITS.trusts.value, "trusts of an organization"),
    },
    responses: { 201: jsonReply(Trust(), "The trust.") },
  },
  getTrust: {
    tags: ["Trusts"],
    summary: "Read a trust",
    role: "admin",
    notFound: ["organization", "trust"],
    responses: { 200: jsonReply(Trust(), "The trust.") },
  },
  deleteTrust: {
    tags: ["Trusts"],
    summary: "Delete a trust",
    role: "admin",
    changes: ["trusts"],
    description:
      "Revokes the keys and runner tokens that it has issued, with everything that was created with them.",
    notFound: ["organization", "trust"],
    responses: { 204: NO_CONTENT },
  },
  exchangeToken: {
    tags: ["Trusts"],
    summary: "Exchange the token of a CI job for a key",
    description:
      "Needs no key. The oldest trust that the token meets decides what is returned. The reply names what " +
      "is wrong with a token only after its signature is verified; an organization that does not exist " +
      "replies as one without such a trust.",
    errors: {
      malformed_token: new BadInput([{ path: "token", message: MALFORMED }]),
      ...Object.fromEntries(
        Object.entries(REFUSED).map(([name, message]) => [
          `token_${name.toLowerCase()}`,
          new Unauthenticated(message),
        ]),
      ),
      issuer_unavailable: issuerUnavailable("It does not answer in time"),
      live_key_limit: new LimitReached(LIMITS.liveKeysOfTrust.value, "live keys of a trust"),
    },
    responses: { 201: jsonReply(ExchangedKey(), "The key. It is not shown again.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Trusts",
    description:
      "Rules that let CI jobs exchange a token of their CI system for a key that expires soon, so " +
      "that no key is stored in the CI system.",
  },
];

export const document: FeatureDocument = { tags, operations };
