import { z } from "@hono/zod-openapi";
import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { CROSS_ORIGIN } from "../../../lib/header-errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { LESS_ACCESS } from "../api-keys/index.ts";
import { LAST_OWNER_KEY } from "../credentials/index.ts";
import { CREATOR_ENDED, SIGN_IN_LINK_TTL_MS, UNUSED_LINKS } from "./model.ts";
import { MemberSessionList, Session, SessionList, SignInLink } from "./responses.ts";
import { INVALID_API_KEY, INVALID_LINK, NO_SESSIONS_HERE } from "./sign-in-service.ts";

const SIGNING_IN = {
  cross_origin: CROSS_ORIGIN,
  session_over_http: NO_SESSIONS_HERE,
  session_limit: new LimitReached(LIMITS.sessionsOfMembership.value, "sessions of a membership"),
};

const REVOKING = {
  needs_owner_of_organization: Unauthorized.role("owner"),
  less_access: LESS_ACCESS,
  last_owner_key: LAST_OWNER_KEY,
};

const operations = {
  createSession: {
    tags: ["Sessions"],
    summary: "Sign in with an API key",
    description:
      "Needs no other credential. Sets the session's cookie, and always starts a new session. The session " +
      "has the role, the scopes and the boundaries of the key, and ends with it.",
    errors: { invalid_api_key: INVALID_API_KEY, ...SIGNING_IN },
    responses: { 201: jsonReply(Session(), "The session. Its cookie is in `Set-Cookie`.") },
  },
  listSessions: {
    tags: ["Sessions"],
    summary: "List the sessions of your membership",
    description: "Without those that have ended.",
    responses: { 200: jsonReply(SessionList(), "A page of sessions.") },
  },
  endCurrentSession: {
    tags: ["Sessions"],
    summary: "Sign out",
    description: "Ends the session of the request, and clears its cookie.",
    responses: { 204: NO_CONTENT },
  },
  revokeSession: {
    tags: ["Sessions"],
    summary: "Revoke a session of your membership",
    description:
      "The session's next request is refused. What was made in it stays, unless `descendants=revoke` ends " +
      "that, too, in all of your organizations; the session itself may have ended then. Needs at least the " +
      "access of the session.",
    notFound: ["session"],
    errors: REVOKING,
    responses: { 204: NO_CONTENT },
  },
  listMemberSessions: {
    tags: ["Sessions"],
    summary: "List the sessions of a member",
    role: "admin",
    description:
      "Also those of a sign-in with OpenID Connect, which no key of the list of API keys has.",
    notFound: ["organization", "membership"],
    responses: { 200: jsonReply(MemberSessionList(), "A page of sessions.") },
  },
  revokeMemberSession: {
    tags: ["Sessions"],
    summary: "Revoke a session of a member",
    role: "admin",
    description:
      "The session's next request is refused. What was made in it stays, unless `descendants=revoke` ends " +
      "that, too; the session itself may have ended then. Only an owner revokes across organizations: " +
      "what was made in an organization that the session founded. Needs at least the access of the session.",
    notFound: ["organization", "session"],
    errors: REVOKING,
    responses: { 204: NO_CONTENT },
  },
  createSignInLink: {
    tags: ["Sessions"],
    summary: "Create a sign-in link",
    description:
      `Returns a link that signs in once, within ${durationOf(SIGN_IN_LINK_TTL_MS)}. Its session has the role, the scopes and the ` +
      "boundaries of the key of the request. Opening the link changes nothing: the button of its page " +
      "signs in.",
    errors: {
      creator_ended: CREATOR_ENDED,
      sign_in_link_limit: new LimitReached(LIMITS.signInLinksOfKey.value, UNUSED_LINKS),
    },
    responses: { 201: jsonReply(SignInLink(), "The link. It is not shown again.") },
  },
  showSignInLink: {
    tags: ["Sessions"],
    summary: "Open a sign-in link",
    description:
      "An HTML page that names the organization and the person, with a button that signs in. Opening it " +
      "changes nothing. Errors are a page, too, if `Accept` has `text/html`.",
    errors: { invalid_sign_in_link: INVALID_LINK },
    responses: {
      200: { description: "A page of HTML.", content: { "text/html": { schema: z.string() } } },
    },
  },
  useSignInLink: {
    tags: ["Sessions"],
    summary: "Sign in with a link",
    description:
      "What the button of the page sends. Sets the session's cookie, and always starts a new session.",
    errors: { invalid_sign_in_link: INVALID_LINK, ...SIGNING_IN },
    responses: { 303: { description: "Signed in. `Location` is the page that follows." } },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Sessions",
    description: "A person signs in at a browser, with an API key or a link that works once.",
  },
];

export const document: FeatureDocument = { tags, operations };
