import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { CONSOLE_PATH } from "../../http/console.ts";
import { showErrorsAs } from "../../http/narrow-page.ts";
import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter, type PublicEnv, readJsonBody } from "../../http/router.ts";
import { isFromAnotherOrigin, isSameOrigin } from "../../http/same-origin.ts";
import { sessionCookie, sessionCookieName } from "../../http/session-cookie.ts";
import { Conflict, LimitReached, Unauthorized } from "../../lib/errors.ts";
import { CROSS_ORIGIN } from "../../lib/header-errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { lowerOrgRole } from "../../lib/roles.ts";
import { LESS_ACCESS, RevokeQuery } from "../api-keys/index.ts";
import { once } from "../idempotency/index.ts";
import { LAST_OWNER_KEY } from "../memberships/index.ts";
import { CREATOR_ENDED, SIGN_IN_PATH } from "./model.ts";
import { pageHeaders, renderRefusal, renderSignIn } from "./page.ts";
import {
  presentMemberSession,
  presentNewSession,
  presentSession,
  presentSignInLink,
} from "./presenters.ts";
import {
  CreateSession,
  MemberSessionList,
  MemberSessionParams,
  MemberSessionsParams,
  MemberSessionsQuery,
  Session,
  SessionList,
  SessionParams,
  SignInLink,
  SignInLinkParams,
} from "./schemas.ts";
import {
  createSignInLink,
  endCurrentSession,
  listMemberSessions,
  listSessions,
  revokeMemberSession,
  revokeSession,
} from "./service.ts";
import {
  type CreatedSession,
  findSignIn,
  INVALID_API_KEY,
  INVALID_LINK,
  NO_SESSIONS_HERE,
  type SignInContext,
  signInWithKey,
  signInWithLink,
} from "./sign-in-service.ts";

const SIGNING_IN = {
  cross_origin: CROSS_ORIGIN,
  session_over_http: NO_SESSIONS_HERE,
  session_limit: new LimitReached(LIMITS.sessionsOfMembership.value, "sessions of a membership"),
};

const REVOKING = {
  needs_owner_of_organization: Unauthorized.role("owner"),
  less_access: LESS_ACCESS,
  last_owner_key: new Conflict(LAST_OWNER_KEY),
};

const create = operation({
  method: "post",
  path: "/v1/sessions",
  operationId: "createSession",
  tags: ["Sessions"],
  summary: "Sign in with an API key",
  description:
    "Needs no other credential. Sets the session's cookie, and always starts a new session. The session " +
    "has the role, the scopes and the boundaries of the key, and ends with it.",
  credentials: [],
  middleware: [readJsonBody(() => true)],
  errors: { invalid_api_key: INVALID_API_KEY, ...SIGNING_IN },
  request: { body: jsonBody(CreateSession()) },
  responses: { 201: jsonReply(Session(), "The session. Its cookie is in `Set-Cookie`.") },
});

const list = operation({
  method: "get",
  path: "/v1/sessions",
  operationId: "listSessions",
  tags: ["Sessions"],
  summary: "List the sessions of your membership",
  scope: "keys:read",
  description: "Without those that have ended.",
  request: { query: ListQuery() },
  responses: { 200: jsonReply(SessionList(), "A page of sessions.") },
});

const endCurrent = operation({
  method: "delete",
  path: "/v1/sessions/current",
  operationId: "endCurrentSession",
  tags: ["Sessions"],
  summary: "Sign out",
  credentials: ["session"],
  description: "Ends the session of the request, and clears its cookie.",
  responses: { 204: NO_CONTENT },
});

const revoke = operation({
  method: "delete",
  path: "/v1/sessions/{session_id}",
  operationId: "revokeSession",
  tags: ["Sessions"],
  summary: "Revoke a session of your membership",
  scope: "keys:write",
  description:
    "The session's next request is refused. What was made in it stays, unless `descendants=revoke` ends " +
    "that, too, in all of your organizations; the session itself may have ended then. Needs at least the " +
    "access of the session.",
  notFound: ["session"],
  errors: REVOKING,
  request: { params: SessionParams(), query: RevokeQuery() },
  responses: { 204: NO_CONTENT },
});

const listOfMember = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}/sessions",
  operationId: "listMemberSessions",
  tags: ["Sessions"],
  summary: "List the sessions of a member",
  role: "admin",
  scope: "members:read",
  description:
    "Also those of a sign-in with OpenID Connect, which no key of the list of API keys has.",
  notFound: ["organization", "membership"],
  request: { params: MemberSessionsParams(), query: MemberSessionsQuery() },
  responses: { 200: jsonReply(MemberSessionList(), "A page of sessions.") },
});

const revokeOfMember = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/members/{member_id}/sessions/{member_session_id}",
  operationId: "revokeMemberSession",
  tags: ["Sessions"],
  summary: "Revoke a session of a member",
  role: "admin",
  scope: "members:write",
  description:
    "The session's next request is refused. What was made in it stays, unless `descendants=revoke` ends " +
    "that, too; the session itself may have ended then. Only an owner revokes across organizations: " +
    "what was made in an organization that the session founded. Needs at least the access of the session.",
  notFound: ["organization", "session"],
  errors: REVOKING,
  request: { params: MemberSessionParams(), query: RevokeQuery() },
  responses: { 204: NO_CONTENT },
});

const createLink = operation({
  method: "post",
  path: "/v1/sign-in-links",
  operationId: "createSignInLink",
  tags: ["Sessions"],
  summary: "Create a sign-in link",
  scope: "keys:write",
  description:
    "Returns a link that signs in once, within 10 minutes. Its session has the role, the scopes and the " +
    "boundaries of the key of the request. Opening the link changes nothing: the button of its page " +
    "signs in.",
  errors: {
    creator_ended: new Conflict(CREATOR_ENDED),
    sign_in_link_limit: new LimitReached(
      LIMITS.signInLinksOfKey.value,
      "unused sign-in links of a key",
    ),
  },
  responses: { 201: jsonReply(SignInLink(), "The link. It is not shown again.") },
});

const showErrors = showErrorsAs({
  render: renderRefusal,
  headers: () => pageHeaders("none"),
});

const show = operation({
  method: "get",
  path: `${SIGN_IN_PATH}/{token}`,
  operationId: "showSignInLink",
  tags: ["Sessions"],
  summary: "Open a sign-in link",
  description:
    "An HTML page that names the organization and the person, with a button that signs in. Opening it " +
    "changes nothing. Errors are a page, too, if `Accept` has `text/html`.",
  credentials: [],
  middleware: [showErrors],
  errors: { invalid_sign_in_link: INVALID_LINK },
  request: { params: SignInLinkParams() },
  responses: {
    200: { description: "A page of HTML.", content: { "text/html": { schema: z.string() } } },
  },
});

const useLink = operation({
  method: "post",
  path: `${SIGN_IN_PATH}/{token}`,
  operationId: "useSignInLink",
  tags: ["Sessions"],
  summary: "Sign in with a link",
  description:
    "What the button of the page sends. Sets the session's cookie, and always starts a new session.",
  credentials: [],
  writes: true,
  middleware: [showErrors, readJsonBody(() => false)],
  errors: { invalid_sign_in_link: INVALID_LINK, ...SIGNING_IN },
  request: { params: SignInLinkParams() },
  responses: { 303: { description: "Signed in. `Location` is the page that follows." } },
});

export const sessionRoutes = createRouter()
  .openapi(list, async (c) => {
    const page = await listSessions(c.env, toPageRequest(c.req.valid("query")));
    const currentId = c.env.actor.session?.id;
    return c.json(
      toEnvelope(page, (row) => presentSession(row, currentId)),
      200,
    );
  })
  // Before the operation whose path has the ID of a session.
  .openapi(endCurrent, async (c) => {
    await endCurrentSession(c.env);
    c.header("set-cookie", sessionCookie(c.req.url, "", 0));
    return c.body(null, 204);
  })
  .openapi(revoke, async (c) => {
    const { descendants } = c.req.valid("query");
    await revokeSession(c.env, c.req.valid("param").session_id, descendants);
    return c.body(null, 204);
  })
  .openapi(listOfMember, async (c) => {
    const { org_id, member_id } = c.req.valid("param");
    const query = c.req.valid("query");
    const page = { ...toPageRequest(query), status: query.status ?? "active" };
    const owner = { organizationId: org_id, membershipId: member_id };
    const found = await listMemberSessions(c.env, owner, page);
    return c.json(toEnvelope(found, presentMemberSession), 200);
  })
  .openapi(revokeOfMember, async (c) => {
    const { org_id, member_id, member_session_id: id } = c.req.valid("param");
    const session = { organizationId: org_id, membershipId: member_id, id };
    await revokeMemberSession(c.env, session, c.req.valid("query").descendants);
    return c.body(null, 204);
  })
  .openapi(createLink, async (c) => {
    const { origin } = new URL(c.req.url);
    const created = await once(c.env, createSignInLink, origin);
    return c.json(presentSignInLink(created), 201);
  });

export function publicSessionRoutes(
  createContext: (
    env: PublicEnv["Bindings"],
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => SignInContext,
) {
  return createRouter<PublicEnv>()
    .openapi(create, async (c) => {
      if (isFromAnotherOrigin(c.req.raw)) throw CROSS_ORIGIN;
      requireSessions(c);
      const ctx = createContext(c.env, c.executionCtx);
      const created = await signInWithKey(ctx, c.req.valid("json").api_key);
      setCookie(c, created);
      return c.json(presentNewSession(created.row), 201);
    })
    .openapi(show, async (c) => {
      const ctx = createContext(c.env, c.executionCtx);
      const { keyRole, membershipRole, ...link } = await findSignIn(
        ctx,
        c.req.valid("param").token,
      );
      const role = lowerOrgRole(keyRole, membershipRole);
      return c.html(renderSignIn({ ...link, role }), 200, await pageHeaders("self"));
    })
    .openapi(useLink, async (c) => {
      if (!isSameOrigin(c.req.raw)) throw CROSS_ORIGIN;
      requireSessions(c);
      const ctx = createContext(c.env, c.executionCtx);
      setCookie(c, await signInWithLink(ctx, c.req.valid("param").token));
      for (const [name, value] of Object.entries(await pageHeaders("none"))) c.header(name, value);
      return c.redirect(CONSOLE_PATH, 303);
    });
}

function requireSessions(c: Context): void {
  if (sessionCookieName(c.req.url) === undefined) throw NO_SESSIONS_HERE;
}

function setCookie(c: Context, { secret, maxAgeSeconds }: CreatedSession): void {
  c.header("set-cookie", sessionCookie(c.req.url, secret, maxAgeSeconds));
}
