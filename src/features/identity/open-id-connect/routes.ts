import type { OpenContext } from "../../../context.ts";
import { apiRoute } from "../../../http/api-route.ts";
import { CONSOLE_PATH } from "../../../http/assets.ts";
import type { RouteDeps } from "../../../http/lazily.ts";
import { showErrorsAs } from "../../../http/narrow-page.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { refuseUnknownParameters, UNKNOWN_PARAMETER } from "../../../http/query-parameters.ts";
import { json } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { sessionCookie, sessionCookieName } from "../../../http/session-cookie.ts";
import { INVALID_INVITATION, OTHER_ADDRESS } from "../invitations/index.ts";
import {
  NO_SESSIONS_HERE,
  pageHeaders,
  presentNewSession,
  renderRefusal,
  SIGN_IN_PATH,
} from "../sessions/index.ts";
import { Session } from "../sessions/schemas.ts";
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
import { IdentityProvider } from "./provider.ts";
import { CallbackQuery, SessionOrganizationList, SignInMethods, SignInQuery } from "./schemas.ts";
import { listOwnOrganizations, switchOrganization } from "./service.ts";

/** An error ends the pending sign-in: the page clears its cookie. */
const showErrors = showErrorsAs({
  render: renderRefusal,
  headers: async (c) => ({
    ...(await pageHeaders("none")),
    ...(sessionCookieName(c.req.url) && { "set-cookie": PENDING_SIGN_IN.clear(c.req.url) }),
  }),
});

const methods = apiRoute({
  method: "get",
  path: "/v1/sign-in-methods",
  operationId: "listSignInMethods",
  tags: ["Sessions"],
  summary: "List the ways to sign in",
  description:
    "Links and API keys always sign in. Tells whether the deployment has an identity provider, too.",
  access: "public",
  responses: { 200: json(SignInMethods, "The ways to sign in.") },
  errors: { unknown_parameter: UNKNOWN_PARAMETER },
  middleware: [refuseUnknownParameters({ responses: {} })],
});

const start = apiRoute({
  method: "get",
  path: SIGN_IN_PATH,
  operationId: "startSignIn",
  page: true,
  access: "public",
  request: { query: SignInQuery },
  responses: { 303: { description: "`Location` is the page of the identity provider." } },
  errors: {
    no_identity_provider: NOT_CONFIGURED,
    identity_provider_unavailable: PROVIDER_UNAVAILABLE,
    session_over_http: NO_SESSIONS_HERE,
  },
  middleware: [showErrors],
});

const callback = apiRoute({
  method: "get",
  path: CALLBACK_PATH,
  operationId: "finishSignIn",
  page: true,
  access: "public",
  writes: true,
  request: { query: CallbackQuery },
  responses: {
    303: {
      description: "`Location` is the page that follows, or the one to choose an organization.",
    },
  },
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
  middleware: [showErrors],
});

const organizations = apiRoute({
  method: "get",
  path: "/v1/sessions/current/organizations",
  operationId: "listSessionOrganizations",
  tags: ["Sessions"],
  summary: "List the organizations that you can switch to",
  description:
    "With a session from OpenID Connect, all organizations whose membership the person has accepted by " +
    "signing in; otherwise, only that of the session.",
  access: "session",
  request: { query: ListQuery },
  responses: { 200: json(SessionOrganizationList, "A page of organizations.") },
});

const change = apiRoute({
  method: "put",
  path: "/v1/sessions/current/organizations/{org_id}",
  operationId: "switchOrganization",
  tags: ["Sessions"],
  summary: "Switch to another organization",
  description:
    "Ends the session, and starts one in the other organization, whose cookie is in `Set-Cookie`. It lasts " +
    "no longer than the one that ends. A membership that the person has not accepted is `not_found`: " +
    "sign in again to accept it.",
  access: "session",
  request: { params: OrganizationParams },
  responses: { 200: json(Session, "The new session.") },
  notFound: ["organization"],
  errors: { only_open_id_connect: ONLY_OPEN_ID_CONNECT },
});

export function createOpenIdConnectRoutes(deps: RouteDeps) {
  // All requests of the isolate share its documents.
  const provider = new IdentityProvider(deps);
  const requireProvider = ({ installation }: OpenContext, url: string) => {
    const settings = installation.identityProvider();
    if (!settings) throw NOT_CONFIGURED;
    const redirectUri = new URL(CALLBACK_PATH, url).href;
    return { settings, redirectUri };
  };
  return createRouter()
    .openapi(organizations, async (c) => {
      const page = await c.var.run((ctx) =>
        listOwnOrganizations(ctx, toPageRequest(c.req.valid("query"))),
      );
      const { organizationId } = c.var.ctx.actor;
      return c.json(
        toEnvelope(page, (row) => presentOrganization(row, organizationId)),
        200,
      );
    })
    .openapi(change, async (c) => {
      const { org_id } = c.req.valid("param");
      const { row, secret, maxAgeSeconds } = await c.var.run((ctx) =>
        switchOrganization(ctx, org_id),
      );
      c.header("set-cookie", sessionCookie(c.req.url, secret, maxAgeSeconds));
      return c.json(presentNewSession(row), 200);
    })
    .openapi(methods, (c) => {
      const { ctx } = c.var;
      const settings = ctx.installation.identityProvider();
      const url = new URL(SIGN_IN_PATH, c.req.url).href;
      const issuer = ctx.settings.OIDC_ISSUER;
      return c.json({ ...(settings && { open_id_connect: { issuer, url } }) }, 200);
    })
    .openapi(start, async (c) => {
      const { settings, redirectUri } = requireProvider(c.var.ctx, c.req.url);
      if (sessionCookieName(c.req.url) === undefined) throw NO_SESSIONS_HERE;
      const { return_to = CONSOLE_PATH, invitation } = c.req.valid("query");
      const returnTo = readReturnPath(return_to, new URL(c.req.url).origin) ?? CONSOLE_PATH;
      const { clock, cipher } = c.var.ctx;
      const pending = newPendingSignIn(clock, { returnTo, ...(invitation && { invitation }) });
      const url = await provider.authorizationUrl(settings, redirectUri, pending);
      c.header("set-cookie", await PENDING_SIGN_IN.seal(c.req.url, pending, await cipher()));
      return c.redirect(url.href, 303);
    })
    .openapi(callback, async (c) => {
      const { settings, redirectUri } = requireProvider(c.var.ctx, c.req.url);
      const { ctx } = c.var;
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
