import type { Context } from "hono";
import type { OpenContext } from "../../../context.ts";
import { apiRoute } from "../../../http/api-route.ts";
import { showErrorsAs } from "../../../http/narrow-page.ts";
import { toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { htmlReply } from "../../../http/replies.ts";
import type { FeatureEnv } from "../../../http/request-context.ts";
import { createRouter } from "../../../http/router.ts";
import { isSameOrigin } from "../../../http/same-origin.ts";
import { sessionCookie } from "../../../http/session-cookie.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { CROSS_ORIGIN } from "../../../lib/header-errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { pageHeaders, renderChoices, renderRefusal } from "./choice-page.ts";
import { chooseOrganization, declineOrganization, listChoices } from "./choice-service.ts";
import { CANNOT_DECLINE, CHOICES_PATH, NO_ACCOUNT, UNKNOWN_SIGN_IN } from "./model.ts";
import { PROVEN_SIGN_IN } from "./pending-sign-in.ts";
import { ChoicesQuery } from "./schemas.ts";

const CHOOSING = { cross_origin: CROSS_ORIGIN, unknown_sign_in: UNKNOWN_SIGN_IN };

const showErrors = showErrorsAs({ render: renderRefusal, headers: () => pageHeaders("none") });

const show = apiRoute({
  method: "get",
  path: CHOICES_PATH,
  operationId: "showSignInOrganizations",
  page: true,
  access: "public",
  request: { query: ChoicesQuery },
  responses: { 200: htmlReply },
  errors: { unknown_sign_in: UNKNOWN_SIGN_IN, no_account: NO_ACCOUNT },
  middleware: [showErrors],
});

const choose = apiRoute({
  method: "post",
  path: `${CHOICES_PATH}/{org_id}`,
  operationId: "chooseSignInOrganization",
  page: true,
  access: "public",
  writes: true,
  request: { params: OrganizationParams },
  responses: { 303: { description: "Signed in. `Location` is the page that follows." } },
  notFound: ["organization"],
  errors: {
    ...CHOOSING,
    session_limit: new LimitReached(LIMITS.sessionsOfMembership.value, "sessions of a membership"),
    member_limit: new LimitReached(QUOTAS.members, "members"),
  },
  middleware: [showErrors],
});

const decline = apiRoute({
  method: "post",
  path: `${CHOICES_PATH}/{org_id}/decline`,
  operationId: "declineSignInOrganization",
  page: true,
  access: "public",
  writes: true,
  request: { params: OrganizationParams },
  responses: { 303: { description: "Declined. `Location` is the page with the others." } },
  notFound: ["organization"],
  errors: { ...CHOOSING, cannot_decline: CANNOT_DECLINE },
  middleware: [showErrors],
});

async function open({ req, var: { ctx } }: Context<FeatureEnv<OpenContext>>) {
  return { ctx, proven: await PROVEN_SIGN_IN.open(req.raw, await ctx.cipher(), ctx.clock) };
}

export const choiceRoutes = createRouter()
  .openapi(show, async (c) => {
    const { ctx, proven } = await open(c);
    const request = toPageRequest(c.req.valid("query"));
    const page = await listChoices(ctx, proven, request);
    const isFirstPage = request.after === undefined;
    const shown = renderChoices({ ...page, email: proven.email, isFirstPage });
    return c.html(shown, 200, await pageHeaders("self"));
  })
  .openapi(choose, async (c) => {
    if (!isSameOrigin(c.req.raw)) throw CROSS_ORIGIN;
    const { ctx, proven } = await open(c);
    const { org_id } = c.req.valid("param");
    const { secret, maxAgeSeconds } = await chooseOrganization(ctx, proven, org_id);
    c.header("set-cookie", sessionCookie(c.req.url, secret, maxAgeSeconds));
    c.header("set-cookie", PROVEN_SIGN_IN.clear(c.req.url), { append: true });
    for (const [name, value] of Object.entries(await pageHeaders("none"))) c.header(name, value);
    return c.redirect(proven.returnTo, 303);
  })
  .openapi(decline, async (c) => {
    if (!isSameOrigin(c.req.raw)) throw CROSS_ORIGIN;
    const { ctx, proven } = await open(c);
    await declineOrganization(ctx, proven, c.req.valid("param").org_id);
    return c.redirect(CHOICES_PATH, 303);
  });
