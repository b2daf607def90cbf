import { z } from "@hono/zod-openapi";
import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { UNKNOWN_PARAMETER } from "../../../http/query-parameters.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { CROSS_ORIGIN } from "../../../lib/header-errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { INVALID_INVITATION, OTHER_ADDRESS } from "../invitations/index.ts";
import { NO_SESSIONS_HERE } from "../sessions/index.ts";
import { Session } from "../sessions/responses.ts";
import {
  CANNOT_DECLINE,
  NO_ACCOUNT,
  NOT_CONFIGURED,
  ONLY_OPEN_ID_CONNECT,
  PROVIDER_REFUSED,
  PROVIDER_UNAVAILABLE,
  UNKNOWN_SIGN_IN,
  UNVERIFIED_ADDRESS,
} from "./model.ts";
import { SessionOrganizationList, SignInMethods } from "./responses.ts";

const CHOOSING = { cross_origin: CROSS_ORIGIN, unknown_sign_in: UNKNOWN_SIGN_IN };

const operations = {
  showSignInOrganizations: {
    tags: ["Sessions"],
    summary: "Choose an organization after signing in with OpenID Connect",
    description:
      "An HTML page that lists the memberships of the verified e-mail address, the last used first, and then " +
      "its open invitations and the memberships that others have added. Opening it changes nothing.",
    errors: { unknown_sign_in: UNKNOWN_SIGN_IN, no_account: NO_ACCOUNT },
    responses: {
      200: { description: "A page of HTML.", content: { "text/html": { schema: z.string() } } },
    },
  },
  chooseSignInOrganization: {
    tags: ["Sessions"],
    summary: "Sign in to an organization",
    description:
      "What a button of the page sends. Accepts the invitation or the membership, if the person has not yet, " +
      "and sets the cookie of a new session.",
    notFound: ["organization"],
    errors: {
      ...CHOOSING,
      session_limit: new LimitReached(
        LIMITS.sessionsOfMembership.value,
        "sessions of a membership",
      ),
      member_limit: new LimitReached(QUOTAS.members, "members"),
    },
    responses: { 303: { description: "Signed in. `Location` is the page that follows." } },
  },
  declineSignInOrganization: {
    tags: ["Sessions"],
    summary: "Decline an invitation or a membership",
    description:
      "What a button of the page sends. Deletes the open invitation, or the membership that somebody has " +
      "added and the person has not accepted.",
    notFound: ["organization"],
    errors: { ...CHOOSING, cannot_decline: CANNOT_DECLINE },
    responses: { 303: { description: "Declined. `Location` is the page with the others." } },
  },
  listSignInMethods: {
    tags: ["Sessions"],
    summary: "List the ways to sign in",
    description:
      "Links and API keys always sign in. Tells whether the deployment has an identity provider, too.",
    errors: { unknown_parameter: UNKNOWN_PARAMETER },
    responses: { 200: jsonReply(SignInMethods(), "The ways to sign in.") },
  },
  startSignIn: {
    tags: ["Sessions"],
    summary: "Sign in with OpenID Connect",
    description:
      "Redirects to the identity provider, which redirects back with a code. Errors are a page, if `Accept` has " +
      "`text/html`.",
    errors: {
      no_identity_provider: NOT_CONFIGURED,
      identity_provider_unavailable: PROVIDER_UNAVAILABLE,
      session_over_http: NO_SESSIONS_HERE,
    },
    responses: { 303: { description: "`Location` is the page of the identity provider." } },
  },
  finishSignIn: {
    tags: ["Sessions"],
    summary: "Come back from the identity provider",
    description:
      "The identity provider redirects the browser to this path. Starts a session of the person with the " +
      "verified e-mail address, in the organization of the invitation, or in the only one that the person " +
      "has accepted if no invitation is open. Otherwise, the person chooses on the page that follows.",
    errors: {
      no_identity_provider: NOT_CONFIGURED,
      identity_provider_unavailable: PROVIDER_UNAVAILABLE,
      unknown_sign_in: UNKNOWN_SIGN_IN,
      identity_provider_refused: PROVIDER_REFUSED,
      unverified_address: UNVERIFIED_ADDRESS,
      no_account: NO_ACCOUNT,
      other_address: OTHER_ADDRESS,
      invalid_invitation: INVALID_INVITATION,
    },
    responses: {
      303: {
        description: "`Location` is the page that follows, or the one to choose an organization.",
      },
    },
  },
  listSessionOrganizations: {
    tags: ["Sessions"],
    summary: "List the organizations that you can switch to",
    description:
      "With a session from OpenID Connect, all organizations whose membership the person has accepted by " +
      "signing in; otherwise, only that of the session.",
    responses: { 200: jsonReply(SessionOrganizationList(), "A page of organizations.") },
  },
  switchOrganization: {
    tags: ["Sessions"],
    summary: "Switch to another organization",
    description:
      "Ends the session, and starts one in the other organization, whose cookie is in `Set-Cookie`. It lasts " +
      "no longer than the one that ends. A membership that the person has not accepted is `not_found`: " +
      "sign in again to accept it.",
    notFound: ["organization"],
    errors: { only_open_id_connect: ONLY_OPEN_ID_CONNECT },
    responses: { 200: jsonReply(Session(), "The new session.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };
