import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag } from "../../http/entity-tags.ts";
import { API_KEY_POLICIES, operation, SESSION_POLICIES } from "../../http/operation.ts";
import { createRouter } from "../../http/router.ts";
import { once } from "../idempotency/index.ts";
import type { Documented } from "./document.ts";
import { presentAccount, presentIdentity, toAccountPatch } from "./presenters.ts";
import { UpdateAccount } from "./schemas.ts";
import { changeAccount, deleteAccount, getAccount, getIdentity } from "./service.ts";

const whoAmI = operation({
  method: "get",
  path: "/v1/whoami",
  operationId: "whoAmI",
  scope: null,
});

const get = operation({
  method: "get",
  path: "/v1/account",
  operationId: "getAccount",
  record: true,
  scope: "members:read",
});

const update = operation({
  method: "patch",
  path: "/v1/account",
  operationId: "updateAccount",
  record: true,
  scope: "members:write",
  request: () => ({ body: jsonBody(UpdateAccount()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/account",
  operationId: "deleteAccount",
  status: 204,
  record: true,
  scope: "members:write",
});

export const accountRoutes = createRouter<Documented>()
  .openapi(whoAmI, async (c) => {
    const identity = presentIdentity(await getIdentity(c.env));
    const limits = c.env.actor.session ? SESSION_POLICIES : API_KEY_POLICIES;
    return c.json({ ...identity, limits }, 200);
  })
  .openapi(get, async (c) => {
    const account = await getAccount(c.env);
    const { recordVersion } = account;
    return jsonWithTag(c, recordVersion, presentAccount(account, c.env.actor), 200);
  })
  .openapi(update, async (c) => {
    const patch = toAccountPatch(c.req.valid("json"));
    const account = await once(c.env, changeAccount, patch);
    const { recordVersion } = account;
    return jsonWithTag(c, recordVersion, presentAccount(account, c.env.actor), 200);
  })
  .openapi(remove, async (c) => {
    await deleteAccount(c.env);
    return c.body(null, 204);
  });
