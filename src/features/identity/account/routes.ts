import { jsonBody } from "../../../http/bodies.ts";
import { API_KEY_POLICIES, operation, SESSION_POLICIES } from "../../../http/operation.ts";
import { createRouter } from "../../../http/router.ts";
import { deleteAccount } from "./deletion.ts";
import type { Documented } from "./document.ts";
import { presentIdentity, presentOwnAccount, toAccountPatch } from "./presenters.ts";
import { UpdateAccount } from "./schemas.ts";
import { changeAccount, getAccount, getIdentity } from "./service.ts";

function presentCaller(identity: Parameters<typeof presentIdentity>[0]) {
  const limits = identity.actor.session ? SESSION_POLICIES : API_KEY_POLICIES;
  return { ...presentIdentity(identity), limits };
}

const whoAmI = operation({
  method: "get",
  path: "/v1/whoami",
  operationId: "whoAmI",
  present: presentCaller,
  scope: null,
});

const get = operation({
  method: "get",
  path: "/v1/account",
  operationId: "getAccount",
  resource: true,
  present: presentOwnAccount,
  scope: "members:read",
});

const update = operation({
  method: "patch",
  path: "/v1/account",
  operationId: "updateAccount",
  resource: true,
  present: presentOwnAccount,
  scope: "members:write",
  request: () => ({ body: jsonBody(UpdateAccount()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/account",
  operationId: "deleteAccount",
  status: 204,
  resource: true,
  scope: "members:write",
});

export const accountRoutes = createRouter<Documented>()
  .handle(whoAmI, ({ ctx }) => getIdentity(ctx))
  .handle(get, ({ ctx }) => getAccount(ctx))
  .handle(update, ({ ctx, body }) => changeAccount(ctx, toAccountPatch(body)))
  .handle(remove, ({ ctx }) => deleteAccount(ctx));
