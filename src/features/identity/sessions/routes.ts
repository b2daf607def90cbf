import type { Context } from "hono";
import { apiRoute } from "../../../http/api-route.ts";
import { CONSOLE_PATH } from "../../../http/assets.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { showErrorsAs } from "../../../http/narrow-page.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { createdHere, done, htmlReply, json, noContent, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { isFromAnotherOrigin, isSameOrigin } from "../../../http/same-origin.ts";
import { sessionCookie, sessionCookieName } from "../../../http/session-cookie.ts";
import { LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { CROSS_ORIGIN } from "../../../lib/header-errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { lowerOrgRole } from "../../../lib/roles.ts";
import { LESS_ACCESS } from "../api-keys/index.ts";
import { RevokeQuery } from "../api-keys/schemas.ts";
import { LAST_OWNER_KEY } from "../credentials/index.ts";
import { CREATOR_ENDED, SIGN_IN_LINK_TTL_MS, SIGN_IN_PATH, UNUSED_LINKS } from "./model.ts";
import { pageHeaders, renderInvalidLink, renderRefusal, renderSignIn } from "./page.ts";
import {
  presentMemberSession,
  presentNewSession,
  presentOwnSession,
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
  last_owner_key: LAST_OWNER_KEY,
};

const create = apiRoute({
  method: "post",
  path: "/v1/sessions",
  operationId: "createSession",
  tags: ["Sessions"],
  summary: "Sign in with an API key",
  description:
    "Needs no other credential. Sets the session's cookie, and always starts a new session. The session " +
    "has the role, the scopes and the boundaries of the key, and ends with it.",
  access: "public",
  request: { body: jsonBody(CreateSession) },
  responses: { 201: json(Session, "The session. Its cookie is in `Set-Cookie`.") },
  errors: { invalid_api_key: INVALID_API_KEY, ...SIGNING_IN },
});

const list = apiRoute({
  method: "get",
  path: "/v1/sessions",
  operationId: "listSessions",
  tags: ["Sessions"],
  summary: "List the sessions of your membership",
  description: "Without those that have ended.",
  access: { scope: "keys:read" },
  request: { query: ListQuery },
  responses: { 200: json(SessionList, "A page of sessions.") },
});

const endCurrent = apiRoute({
  method: "delete",
  path: "/v1/sessions/current",
  operationId: "endCurrentSession",
  tags: ["Sessions"],
  summary: "Sign out",
  description: "Ends the session of the request, and clears its cookie.",
  access: "session",
  responses: { 204: noContent },
});

const revoke = apiRoute({
  method: "delete",
  path: "/v1/sessions/{session_id}",
  operationId: "revokeSession",
  tags: ["Sessions"],
  summary: "Revoke a session of your membership",
  description:
    "The session's next request is refused. What was made in it stays, unless `descendants=revoke` ends " +
    "that, too, in all of your organizations; the session itself may have ended then. Needs at least the " +
    "access of the session.",
  access: { scope: "keys:write" },
  request: { params: SessionParams, query: RevokeQuery },
  responses: { 204: noContent },
  notFound: ["session"],
  errors: REVOKING,
});

const listOfMember = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}/sessions",
  operationId: "listMemberSessions",
  tags: ["Sessions"],
  summary: "List the sessions of a member",
  description:
    "Also those of a sign-in with OpenID Connect, which no key of the list of API keys has.",
  access: { scope: "members:read", role: "admin" },
  request: { params: MemberSessionsParams, query: MemberSessionsQuery },
  responses: { 200: json(MemberSessionList, "A page of sessions.") },
  notFound: ["organization", "membership"],
});

const revokeOfMember = apiRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}/members/{member_id}/sessions/{member_session_id}",
  operationId: "revokeMemberSession",
  tags: ["Sessions"],
  summary: "Revoke a session of a member",
  description:
    "The session's next request is refused. What was made in it stays, unless `descendants=revoke` ends " +
    "that, too; the session itself may have ended then. Only an owner revokes across organizations: " +
    "what was made in an organization that the session founded. Needs at least the access of the session.",
  access: { scope: "members:write", role: "admin" },
  request: { params: MemberSessionParams, query: RevokeQuery },
  responses: { 204: noContent },
  notFound: ["organization", "session"],
  errors: REVOKING,
});

const createLink = apiRoute({
  method: "post",
  path: "/v1/sign-in-links",
  operationId: "createSignInLink",
  tags: ["Sessions"],
  summary: "Create a sign-in link",
  description:
    `Returns a link that signs in once, within ${durationOf(SIGN_IN_LINK_TTL_MS)}. Its session has the role, the scopes and the ` +
    "boundaries of the key of the request. Opening the link changes nothing: the button of its page " +
    "signs in.",
  access: { scope: "keys:write" },
  responses: { 201: json(SignInLink, "The link. It is not shown again.") },
  errors: {
    creator_ended: CREATOR_ENDED,
    sign_in_link_limit: new LimitReached(LIMITS.signInLinksOfKey.value, UNUSED_LINKS),
  },
});

const showErrors = showErrorsAs({
  render: (error) => (error === INVALID_LINK ? renderInvalidLink() : renderRefusal(error)),
  headers: () => pageHeaders("none"),
});

const show = apiRoute({
  method: "get",
  path: `${SIGN_IN_PATH}/{token}`,
  operationId: "showSignInLink",
  page: true,
  access: "public",
  request: { params: SignInLinkParams },
  responses: { 200: htmlReply },
  errors: { invalid_sign_in_link: INVALID_LINK },
  middleware: [showErrors],
});

const useLink = apiRoute({
  method: "post",
  path: `${SIGN_IN_PATH}/{token}`,
  operationId: "useSignInLink",
  page: true,
  access: "public",
  writes: true,
  request: { params: SignInLinkParams },
  responses: { 303: { description: "Signed in. `Location` is the page that follows." } },
  errors: { invalid_sign_in_link: INVALID_LINK, ...SIGNING_IN },
  middleware: [showErrors],
});

export const sessionRoutes = createRouter()
  .openapi(list, (c) =>
    page(c, (ctx) => listSessions(ctx, toPageRequest(c.req.valid("query"))), presentOwnSession),
  )
  // Before the operation whose path has the ID of a session.
  .openapi(endCurrent, async (c) => {
    await c.var.run(endCurrentSession);
    c.header("set-cookie", sessionCookie(c.req.url, "", 0));
    return c.body(null, 204);
  })
  .openapi(revoke, (c) =>
    done(c, (ctx) =>
      revokeSession(ctx, c.req.valid("param").session_id, c.req.valid("query").descendants),
    ),
  )
  .openapi(listOfMember, (c) => {
    const params = c.req.valid("param");
    const query = c.req.valid("query");
    const owner = { organizationId: params.org_id, membershipId: params.member_id };
    const request = { ...toPageRequest(query), status: query.status ?? "active" };
    return page(c, (ctx) => listMemberSessions(ctx, owner, request), presentMemberSession);
  })
  .openapi(revokeOfMember, (c) => {
    const { org_id, member_id, member_session_id: id } = c.req.valid("param");
    const session = { organizationId: org_id, membershipId: member_id, id };
    return done(c, (ctx) => revokeMemberSession(ctx, session, c.req.valid("query").descendants));
  })
  .openapi(createLink, (c) =>
    createdHere(c, (ctx) => createSignInLink(ctx, new URL(c.req.url).origin), presentSignInLink),
  )
  .openapi(create, async (c) => {
    if (isFromAnotherOrigin(c.req.raw)) throw CROSS_ORIGIN;
    requireSessions(c);
    const { ctx } = c.var;
    const created = await signInWithKey(ctx, c.req.valid("json").api_key);
    setCookie(c, created);
    return c.json(presentNewSession(created.row), 201);
  })
  .openapi(show, async (c) => {
    const { ctx } = c.var;
    const { keyRole, membershipRole, ...link } = await findSignIn(ctx, c.req.valid("param").token);
    const role = lowerOrgRole(keyRole, membershipRole);
    return c.html(renderSignIn({ ...link, role }), 200, await pageHeaders("self"));
  })
  .openapi(useLink, async (c) => {
    if (!isSameOrigin(c.req.raw)) throw CROSS_ORIGIN;
    requireSessions(c);
    const { ctx } = c.var;
    setCookie(c, await signInWithLink(ctx, c.req.valid("param").token));
    for (const [name, value] of Object.entries(await pageHeaders("none"))) c.header(name, value);
    return c.redirect(CONSOLE_PATH, 303);
  });

function requireSessions(c: Context): void {
  if (sessionCookieName(c.req.url) === undefined) throw NO_SESSIONS_HERE;
}

function setCookie(c: Context, { secret, maxAgeSeconds }: CreatedSession): void {
  c.header("set-cookie", sessionCookie(c.req.url, secret, maxAgeSeconds));
}
