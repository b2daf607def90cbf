import type { PublicContext } from "../../../context.ts";
import { CONSOLE_PATH } from "../../../http/assets.ts";
import type { PublicEnv } from "../../../http/envs.ts";
import { showErrorsAs } from "../../../http/narrow-page.ts";
import { operation } from "../../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { refuseUnknownParameters } from "../../../http/query-parameters.ts";
import { createRouter } from "../../../http/router.ts";
import { sessionCookie, sessionCookieName } from "../../../http/session-cookie.ts";
import { readProviderSettings } from "../../../lib/identity-provider.ts";
import {
  NO_SESSIONS_HERE,
  pageHeaders,
  presentNewSession,
  renderRefusal,
  SIGN_IN_PATH,
} from "../sessions/index.ts";
import { signInWithAddress } from "./choice-service.ts";
import type { Documented } from "./document.ts";
import { CALLBACK_PATH, CHOICES_PATH, NOT_CONFIGURED } from "./model.ts";
import {
  newPendingSignIn,
  newProvenSignIn,
  PENDING_SIGN_IN,
  PROVEN_SIGN_IN,
  readReturnPath,
} from "./pending-sign-in.ts";
import { presentOrganization } from "./presenters.ts";
import type { IdentityProvider } from "./provider.ts";
import { CallbackQuery, SignInQuery } from "./schemas.ts";
import { listOwnOrganizations, switchOrganization } from "./service.ts";

/** An error ends the pending sign-in: the page clears its cookie. */
const showErrors = showErrorsAs({
  render: renderRefusal,
  headers: async (c) => ({
    ...(await pageHeaders("none")),
    ...(sessionCookieName(c.req.url) && { "set-cookie": PENDING_SIGN_IN.clear(c.req.url) }),
  }),
});

const methods = operation({
  method: "get",
  path: "/v1/sign-in-methods",
  operationId: "listSignInMethods",
  credentials: [],
  middleware: [refuseUnknownParameters({})],
});

const start = operation({
  method: "get",
  path: SIGN_IN_PATH,
  operationId: "startSignIn",
  middleware: [showErrors],
  status: 303,
  credentials: [],
  request: () => ({ query: SignInQuery() }),
});

const callback = operation({
  method: "get",
  path: CALLBACK_PATH,
  operationId: "finishSignIn",
  middleware: [showErrors],
  status: 303,
  credentials: [],
  writes: true,
  request: () => ({ query: CallbackQuery() }),
});

const organizations = operation({
  method: "get",
  path: "/v1/sessions/current/organizations",
  operationId: "listSessionOrganizations",
  credentials: ["session"],
  request: () => ({ query: ListQuery() }),
});

const change = operation({
  method: "put",
  path: "/v1/sessions/current/organizations/{org_id}",
  operationId: "switchOrganization",
  credentials: ["session"],
  request: () => ({ params: OrganizationParams() }),
});

export const organizationSwitchRoutes = createRouter<Documented>()
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

export function publicOpenIdConnectRoutes(
  provider: IdentityProvider,
  createContext: (
    env: PublicEnv["Bindings"],
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => PublicContext,
) {
  const requireProvider = (env: PublicEnv["Bindings"], url: string) => {
    const settings = readProviderSettings(env);
    if (!settings) throw NOT_CONFIGURED;
    const redirectUri = new URL(CALLBACK_PATH, url).href;
    return { settings, redirectUri };
  };
  return createRouter<Documented, PublicEnv>()
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
