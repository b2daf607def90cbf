import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { API_KEY_POLICIES, SESSION_POLICIES } from "../../../http/presented-policies.ts";
import { done, json, noContent, ok } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { deleteAccount } from "./deletion.ts";
import { LAST_OWNER_OF_SOME, SERVICE_ACCOUNT } from "./model.ts";
import { presentIdentity, presentOwnAccount, toAccountPatch } from "./presenters.ts";
import { Account, UpdateAccount, WhoAmI } from "./schemas.ts";
import { changeAccount, getAccount, getIdentity } from "./service.ts";

const OF_PERSON = { credential_not_full: NOT_FULL, service_account: SERVICE_ACCOUNT };

const NEEDS_FULL = "Needs a full credential: `full` in `GET /v1/whoami`.";

function presentCaller(identity: Parameters<typeof presentIdentity>[0]) {
  const limits = identity.actor.session ? SESSION_POLICIES : API_KEY_POLICIES;
  return { ...presentIdentity(identity), limits };
}

const whoAmI = apiRoute({
  method: "get",
  path: "/v1/whoami",
  operationId: "whoAmI",
  tags: ["Account"],
  summary: "Read what your key may do",
  description:
    "The organization, the membership and the permissions of the key, and its rate limits.",
  access: { scope: null },
  responses: { 200: json(WhoAmI, "The sender of the request.") },
});

const get = apiRoute({
  method: "get",
  path: "/v1/account",
  operationId: "getAccount",
  tags: ["Account"],
  summary: "Read your account",
  description:
    "The person or the program that the key acts for. The address is private: it is shown only with a " +
    "key that the person has made.",
  access: { scope: "members:read" },
  resource: true,
  responses: { 200: json(Account, "The account of the key's membership.") },
});

const update = apiRoute({
  method: "patch",
  path: "/v1/account",
  operationId: "updateAccount",
  tags: ["Account"],
  summary: "Change your account",
  description:
    "An absent field stays, and null clears a field (RFC 7396). The audit log of each organization of " +
    `the account records it. ${NEEDS_FULL}`,
  access: { scope: "members:write" },
  resource: true,
  request: { body: jsonBody(UpdateAccount) },
  responses: { 200: json(Account, "The account.") },
  errors: OF_PERSON,
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/account",
  operationId: "deleteAccount",
  tags: ["Account"],
  summary: "Delete your account",
  description:
    "Ends the account's memberships in every organization, revokes their keys, and erases the name, " +
    "the address and the profile, also in the audit log and in the changelogs. Only the account's ID " +
    "remains. The last owner of an organization or of a project cannot be deleted. " +
    NEEDS_FULL,
  access: { scope: "members:write" },
  resource: true,
  responses: { 204: noContent },
  errors: {
    ...OF_PERSON,
    last_owner_of_some: LAST_OWNER_OF_SOME,
  },
});

export const accountRoutes = createRouter()
  .openapi(whoAmI, (c) => ok(c, (ctx) => getIdentity(ctx), presentCaller))
  .openapi(get, (c) => ok(c, (ctx) => getAccount(ctx), presentOwnAccount))
  .openapi(update, (c) =>
    ok(c, (ctx) => changeAccount(ctx, toAccountPatch(c.req.valid("json"))), presentOwnAccount),
  )
  .openapi(remove, (c) => done(c, (ctx) => deleteAccount(ctx)));
