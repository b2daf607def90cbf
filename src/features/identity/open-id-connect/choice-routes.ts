import type { Context } from "hono";
import type { CoreContext, PublicContext } from "../../../context.ts";
import type { PublicEnv } from "../../../http/envs.ts";
import { showErrorsAs } from "../../../http/narrow-page.ts";
import { operation } from "../../../http/operation.ts";
import { toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { readJsonBody } from "../../../http/read-body.ts";
import { createRouter } from "../../../http/router.ts";
import { isSameOrigin } from "../../../http/same-origin.ts";
import { sessionCookie } from "../../../http/session-cookie.ts";
import { CROSS_ORIGIN } from "../../../lib/header-errors.ts";
import { pageHeaders, renderChoices, renderRefusal } from "./choice-page.ts";
import { chooseOrganization, declineOrganization, listChoices } from "./choice-service.ts";
import type { Documented } from "./document.ts";
import { CHOICES_PATH } from "./model.ts";
import { PROVEN_SIGN_IN } from "./pending-sign-in.ts";
import { ChoicesQuery } from "./schemas.ts";

const showErrors = showErrorsAs({ render: renderRefusal, headers: () => pageHeaders("none") });

const show = operation({
  method: "get",
  path: CHOICES_PATH,
  operationId: "showSignInOrganizations",
  page: true,
  credentials: [],
  middleware: [showErrors],
  request: () => ({ query: ChoicesQuery() }),
});

const choose = operation({
  method: "post",
  path: `${CHOICES_PATH}/{org_id}`,
  operationId: "chooseSignInOrganization",
  status: 303,
  credentials: [],
  writes: true,
  middleware: [showErrors, readJsonBody({ isRequired: false })],
  request: () => ({ params: OrganizationParams() }),
});

const decline = operation({
  method: "post",
  path: `${CHOICES_PATH}/{org_id}/decline`,
  operationId: "declineSignInOrganization",
  status: 303,
  credentials: [],
  writes: true,
  middleware: [showErrors, readJsonBody({ isRequired: false })],
  request: () => ({ params: OrganizationParams() }),
});

type ChoiceContext = PublicContext & Pick<CoreContext, "invalidateKeys">;

export function choiceRoutes(
  createContext: (
    env: PublicEnv["Bindings"],
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => ChoiceContext,
) {
  const open = async (c: Context<PublicEnv>) => {
    const ctx = createContext(c.env, c.executionCtx);
    return { ctx, proven: await PROVEN_SIGN_IN.open(c.req.raw, await ctx.cipher(), ctx.clock) };
  };
  return createRouter<Documented, PublicEnv>()
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
}
