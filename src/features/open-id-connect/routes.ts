import { CONSOLE_PATH } from "../../http/console.ts";
import { showErrorsAs } from "../../http/narrow-page.ts";
import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonReply } from "../../http/replies.ts";
import { createRouter, type PublicEnv } from "../../http/router.ts";
import { sessionCookie, sessionCookieName } from "../../http/session-cookie.ts";
import { readProviderSettings } from "../../lib/identity-provider.ts";
import { INVALID_INVITATION, OTHER_ADDRESS } from "../invitations/index.ts";
import {
  NO_SESSIONS_HERE,
  pageHeaders,
  presentNewSession,
  renderRefusal,
  Session,
  SIGN_IN_PATH,
  type SignInContext,
} from "../sessions/index.ts";
import { signInWithAddress } from "./choice-service.ts";
import {
  CALLBACK_PATH,
  CHOICES_PATH,
  NO_ACCOUNT,
  NOT_CONFIGURED,
  ONLY_OPEN_ID_CONNECT,
  PROVIDER_REFUSED,
  PROVIDER_UNAVAILABLE,
  UNKNOWN_SIGN_IN,
  UNVERIFIED_ADDRESS,
} from "./model.ts";
import {
  newPendingSignIn,
  newProvenSignIn,
  PENDING_SIGN_IN,
  PROVEN_SIGN_IN,
  readReturnPath,
} from "./pending-sign-in.ts";
import { presentOrganization } from "./presenters.ts";
import type { IdentityProvider } from "./provider.ts";
import { CallbackQuery, SessionOrganizationList, SignInMethods, SignInQuery } from "./schemas.ts";
import { listOwnOrganizations, switchOrganization } from "./service.ts";

const methods = operation({
  method: "get",
  path: "/v1/sign-in-methods",
  operationId: "listSignInMethods",
  tags: ["Sessions"],
  summary: "List the ways to sign in",
  description:
    "Links and API keys always sign in. Tells whether the deployment has an identity provider, too.",
  credentials: [],
  responses: { 200: jsonReply(SignInMethods(), "The ways to sign in.") },
});

const start = operation({
  method: "get",
  path: SIGN_IN_PATH,
  operationId: "startSignIn",
  tags: ["Sessions"],
  summary: "Sign in with OpenID Connect",
  description:
    "Redirects to the identity provider, which redirects back with a code. Errors are a page, if `Accept` has " +
    "`text/html`.",
  credentials: [],
  errors: {
    no_identity_provider: NOT_CONFIGURED,
    identity_provider_unavailable: PROVIDER_UNAVAILABLE,
    session_over_http: NO_SESSIONS_HERE,
  },
  request: { query: SignInQuery() },
  responses: { 303: { description: "`Location` is the page of the identity provider." } },
});

const callback = operation({
  method: "get",
  path: CALLBACK_PATH,
  operationId: "finishSignIn",
  tags: ["Sessions"],
  summary: "Come back from the identity provider",
  description:
    "The identity provider redirects the browser to this path. Starts a session of the person with the " +
    "verified e-mail address, in the organization of the invitation, or in the only one that the person " +
    "has accepted if no invitation is open. Otherwise, the person chooses on the page that follows.",
  credentials: [],
  writes: true,
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
  request: { query: CallbackQuery() },
  responses: {
    303: {
      description: "`Location` is the page that follows, or the one to choose an organization.",
    },
  },
});

const organizations = operation({
  method: "get",
  path: "/v1/sessions/current/organizations",
  operationId: "listSessionOrganizations",
  tags: ["Sessions"],
  summary: "List the organizations that you can switch to",
  credentials: ["session"],
  description:
    "With a session from OpenID Connect, all organizations whose membership the person has accepted by " +
    "signing in; otherwise, only that of the session.",
  request: { query: ListQuery() },
  responses: { 200: jsonReply(SessionOrganizationList(), "A page of organizations.") },
});

const change = operation({
  method: "put",
  path: "/v1/sessions/current/organizations/{org_id}",
  operationId: "switchOrganization",
  tags: ["Sessions"],
  summary: "Switch to another organization",
  credentials: ["session"],
  description:
    "Ends the session, and starts one in the other organization, whose cookie is in `Set-Cookie`. It lasts " +
    "no longer than the one that ends. A membership that the person has not accepted is `not_found`: " +
    "sign in again to accept it.",
  notFound: ["organization"],
  errors: { only_open_id_connect: ONLY_OPEN_ID_CONNECT },
  request: { params: OrganizationParams() },
  responses: { 200: jsonReply(Session(), "The new session.") },
});

export const organizationSwitchRoutes = createRouter()
  .openapi(organizations, async (c) => {
    const page = await listOwnOrganizations(c.env, toPageRequest(c.req.valid("query")));
    const { organizationId } = c.env.actor;
    return c.json(
      toEnvelope(page, (row) => presentOrganization(row, organizationId)),
      200,
    );
  })
  .openapi(change, async (c) => {
    const { org_id } = c.req.valid("param");
    const { row, secret, maxAgeSeconds } = await switchOrganization(c.env, org_id);
    c.header("set-cookie", sessionCookie(c.req.url, secret, maxAgeSeconds));
    return c.json(presentNewSession(row), 200);
  });

/** An error ends the pending sign-in: the page clears its cookie. */
const showErrors = showErrorsAs({
  render: renderRefusal,
  headers: async (c) => ({
    ...(await pageHeaders("none")),
    ...(sessionCookieName(c.req.url) && { "set-cookie": PENDING_SIGN_IN.clear(c.req.url) }),
  }),
});

export function publicOpenIdConnectRoutes(
  provider: IdentityProvider,
  createContext: (
    env: PublicEnv["Bindings"],
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => SignInContext,
) {
  const requireProvider = (env: PublicEnv["Bindings"], url: string) => {
    const settings = readProviderSettings(env);
    if (!settings) throw NOT_CONFIGURED;
    const redirectUri = new URL(CALLBACK_PATH, url).href;
    return { settings, redirectUri };
  };
  const router = createRouter<PublicEnv>();
  router.use(SIGN_IN_PATH, showErrors);
  router.use(CALLBACK_PATH, showErrors);
  return router
    .openapi(methods, (c) => {
      const settings = readProviderSettings(c.env);
      const url = new URL(SIGN_IN_PATH, c.req.url).href;
      const issuer = c.env.OIDC_ISSUER;
      return c.json({ ...(settings && { open_id_connect: { issuer, url } }) }, 200);
    })
    .openapi(start, async (c) => {
      const { settings, redirectUri } = requireProvider(c.env, c.req.url);
      if (sessionCookieName(c.req.url) === undefined) throw NO_SESSIONS_HERE;
      const { return_to = CONSOLE_PATH, invitation } = c.req.valid("query");
      const returnTo = readReturnPath(return_to, new URL(c.req.url).origin) ?? CONSOLE_PATH;
      const { clock, cipher } = createContext(c.env, c.executionCtx);
      const pending = newPendingSignIn(clock, { returnTo, ...(invitation && { invitation }) });
      const url = await provider.authorizationUrl(settings, redirectUri, pending);
      c.header("set-cookie", await PENDING_SIGN_IN.seal(c.req.url, pending, await cipher()));
      return c.redirect(url.href, 303);
    })
    .openapi(callback, async (c) => {
      const { settings, redirectUri } = requireProvider(c.env, c.req.url);
      const ctx = createContext(c.env, c.executionCtx);
      const cipher = await ctx.cipher();
      const pending = await PENDING_SIGN_IN.open(c.req.raw, cipher, ctx.clock);
      const sent = { callback: new URL(c.req.url), redirectUri };
      const email = await provider.readAddress(settings, sent, pending);
      const created = await signInWithAddress(ctx, pending, email);
      const proven = newProvenSignIn(ctx.clock, pending, email);
      const cookie = created
        ? sessionCookie(c.req.url, created.secret, created.maxAgeSeconds)
        : await PROVEN_SIGN_IN.seal(c.req.url, proven, cipher);
      c.header("set-cookie", cookie);
      c.header("set-cookie", PENDING_SIGN_IN.clear(c.req.url), { append: true });
      return c.redirect(created ? pending.returnTo : CHOICES_PATH, 303);
    });
}
