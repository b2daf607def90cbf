import type { Context } from "hono";
import type { PublicContext } from "../../../context.ts";
import { CONSOLE_PATH } from "../../../http/assets.ts";
import { jsonBody } from "../../../http/bodies.ts";
import type { PublicEnv } from "../../../http/envs.ts";
import { showErrorsAs } from "../../../http/narrow-page.ts";
import { operation } from "../../../http/operation.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { readJsonBody } from "../../../http/read-body.ts";
import { createRouter } from "../../../http/router.ts";
import { isFromAnotherOrigin, isSameOrigin } from "../../../http/same-origin.ts";
import { sessionCookie, sessionCookieName } from "../../../http/session-cookie.ts";
import { CROSS_ORIGIN } from "../../../lib/header-errors.ts";
import { lowerOrgRole } from "../../../lib/roles.ts";
import { RevokeQuery } from "../api-keys/index.ts";
import type { Documented } from "./document.ts";
import { SIGN_IN_PATH } from "./model.ts";
import { pageHeaders, renderRefusal, renderSignIn } from "./page.ts";
import {
  presentMemberSession,
  presentNewSession,
  presentOwnSession,
  presentSignInLink,
} from "./presenters.ts";
import {
  CreateSession,
  MemberSessionParams,
  MemberSessionsParams,
  MemberSessionsQuery,
  SessionParams,
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
  NO_SESSIONS_HERE,
  signInWithKey,
  signInWithLink,
} from "./sign-in-service.ts";

const create = operation({
  method: "post",
  path: "/v1/sessions",
  operationId: "createSession",
  status: 201,
  credentials: [],
  middleware: [readJsonBody({ isRequired: true })],
  request: () => ({ body: jsonBody(CreateSession()) }),
});

const list = operation({
  method: "get",
  path: "/v1/sessions",
  operationId: "listSessions",
  presentEach: presentOwnSession,
  scope: "keys:read",
  request: () => ({ query: ListQuery() }),
});

const endCurrent = operation({
  method: "delete",
  path: "/v1/sessions/current",
  operationId: "endCurrentSession",
  status: 204,
  credentials: ["session"],
});

const revoke = operation({
  method: "delete",
  path: "/v1/sessions/{session_id}",
  operationId: "revokeSession",
  status: 204,
  scope: "keys:write",
  request: () => ({ params: SessionParams(), query: RevokeQuery() }),
});

const listOfMember = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}/sessions",
  operationId: "listMemberSessions",
  presentEach: presentMemberSession,
  scope: "members:read",
  request: () => ({ params: MemberSessionsParams(), query: MemberSessionsQuery() }),
});

const revokeOfMember = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/members/{member_id}/sessions/{member_session_id}",
  operationId: "revokeMemberSession",
  status: 204,
  scope: "members:write",
  request: () => ({ params: MemberSessionParams(), query: RevokeQuery() }),
});

const createLink = operation({
  method: "post",
  path: "/v1/sign-in-links",
  operationId: "createSignInLink",
  status: 201,
  present: presentSignInLink,
  scope: "keys:write",
});

const showErrors = showErrorsAs({
  render: renderRefusal,
  headers: () => pageHeaders("none"),
});

const show = operation({
  method: "get",
  path: `${SIGN_IN_PATH}/{token}`,
  operationId: "showSignInLink",
  page: true,
  credentials: [],
  middleware: [showErrors],
  request: () => ({ params: SignInLinkParams() }),
});

const useLink = operation({
  method: "post",
  path: `${SIGN_IN_PATH}/{token}`,
  operationId: "useSignInLink",
  status: 303,
  credentials: [],
  writes: true,
  middleware: [showErrors, readJsonBody({ isRequired: false })],
  request: () => ({ params: SignInLinkParams() }),
});

export const sessionRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, query }) => listSessions(ctx, toPageRequest(query)))
  // Before the operation whose path has the ID of a session.
  .openapi(endCurrent, async (c) => {
    await endCurrentSession(c.env);
    c.header("set-cookie", sessionCookie(c.req.url, "", 0));
    return c.body(null, 204);
  })
  .handle(revoke, ({ ctx, params, query }) =>
    revokeSession(ctx, params.session_id, query.descendants),
  )
  .handle(listOfMember, ({ ctx, params, query }) => {
    const owner = { organizationId: params.org_id, membershipId: params.member_id };
    const page = { ...toPageRequest(query), status: query.status ?? "active" };
    return listMemberSessions(ctx, owner, page);
  })
  .handle(revokeOfMember, ({ ctx, params, query }) => {
    const { org_id, member_id, member_session_id: id } = params;
    const session = { organizationId: org_id, membershipId: member_id, id };
    return revokeMemberSession(ctx, session, query.descendants);
  })
  .handle(createLink, ({ ctx, url }) => createSignInLink(ctx, new URL(url).origin));

export function publicSessionRoutes(
  createContext: (
    env: PublicEnv["Bindings"],
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => PublicContext,
) {
  return createRouter<Documented, PublicEnv>()
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
