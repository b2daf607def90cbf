import { tagged } from "../../http/entity-tags.ts";
import { API_KEY_POLICIES, operation, SESSION_POLICIES } from "../../http/operation.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict } from "../../lib/errors.ts";
import { NOT_FULL } from "../audit/index.ts";
import { once } from "../idempotency/index.ts";
import { presentAccount, presentIdentity, toAccountPatch } from "./presenters.ts";
import { Account, UpdateAccount, WhoAmI } from "./schemas.ts";
import {
  changeAccount,
  deleteAccount,
  getAccount,
  getIdentity,
  LAST_OWNER_OF_SOME,
  SERVICE_ACCOUNT,
} from "./service.ts";

const OF_PERSON = { credential_not_full: NOT_FULL, service_account: SERVICE_ACCOUNT };

const NEEDS_FULL = "Needs a full credential: `full` in `GET /v1/whoami`.";

const whoAmI = operation({
  method: "get",
  path: "/v1/whoami",
  operationId: "whoAmI",
  tags: ["Account"],
  summary: "Read what your key may do",
  scope: null,
  description:
    "The organization, the membership and the permissions of the key, and its rate limits.",
  responses: { 200: jsonReply(WhoAmI(), "The sender of the request.") },
});

const get = operation({
  method: "get",
  path: "/v1/account",
  operationId: "getAccount",
  tags: ["Account"],
  summary: "Read your account",
  record: true,
  scope: "members:read",
  description:
    "The person or the program that the key acts for. The address is private: it is shown only with a " +
    "key that the person has made.",
  responses: { 200: jsonReply(Account(), "The account of the key's membership.") },
});

const update = operation({
  method: "patch",
  path: "/v1/account",
  operationId: "updateAccount",
  tags: ["Account"],
  summary: "Change your account",
  record: true,
  scope: "members:write",
  description:
    "An absent field stays, and null clears a field (RFC 7396). The audit log of each organization of " +
    `the account records it. ${NEEDS_FULL}`,
  errors: OF_PERSON,
  request: { body: jsonBody(UpdateAccount()) },
  responses: { 200: jsonReply(Account(), "The account.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/account",
  operationId: "deleteAccount",
  tags: ["Account"],
  summary: "Delete your account",
  record: true,
  scope: "members:write",
  description:
    "Ends the account's memberships in every organization, revokes their keys, and erases the name, " +
    "the address and the profile, also in the audit log and in the changelogs. Only the account's ID " +
    "remains. The last owner of an organization or of a project cannot be deleted. " +
    NEEDS_FULL,
  errors: {
    ...OF_PERSON,
    last_owner_of_some: new Conflict(LAST_OWNER_OF_SOME),
  },
  responses: { 204: NO_CONTENT },
});

export const accountRoutes = createRouter()
  .openapi(whoAmI, async (c) => {
    const identity = presentIdentity(await getIdentity(c.env));
    const limits = c.env.actor.session ? SESSION_POLICIES : API_KEY_POLICIES;
    return c.json({ ...identity, limits }, 200);
  })
  .openapi(get, async (c) => {
    const account = await getAccount(c.env);
    const { recordVersion } = account;
    return c.json(await tagged(c, recordVersion, presentAccount(account, c.env.actor)), 200);
  })
  .openapi(update, async (c) => {
    const patch = toAccountPatch(c.req.valid("json"));
    const account = await once(c.env, changeAccount, patch);
    const { recordVersion } = account;
    return c.json(await tagged(c, recordVersion, presentAccount(account, c.env.actor)), 200);
  })
  .openapi(remove, async (c) => {
    await deleteAccount(c.env);
    return c.body(null, 204);
  });
