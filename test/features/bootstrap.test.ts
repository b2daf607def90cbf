import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { API_KEY_PATTERN } from "../../src/auth/credentials.ts";
import { Client } from "../support/client.ts";

const BODY = {
  organization: { name: "Acme" },
  account: { email: "Ada@Example.com", name: "Ada", profile: { github: "ada", bio: null } },
};
const bootstrap = (
  token: string,
  body: unknown = BODY,
  { scheme = "Bearer ", type = "application/json" } = {},
) =>
  new Client(undefined).request("POST", "/v1/bootstrap", body, {
    authorization: `${scheme}${token}`,
    "content-type": type,
  });

// The order matters: the tests share one database, which is bootstrapped once.
describe("bootstrapping", () => {
  it("rejects tokens that are not exactly the deployment's", async () => {
    for (const token of ["", "wrong", `${env.BOOTSTRAP_TOKEN}x`, env.BOOTSTRAP_TOKEN.slice(1)]) {
      expect((await bootstrap(token, JSON.stringify(BODY))).status).toBe(401);
    }
  });

  it.each(["", "Basic ", "Token "])(
    "rejects the token after the prefix '%s', which is not Bearer",
    async (scheme) => {
      const reply = await bootstrap(env.BOOTSTRAP_TOKEN, JSON.stringify(BODY), { scheme });
      expect(reply.status).toBe(401);
    },
  );

  it("rejects an invalid body and remains available after it", async () => {
    const reply = await bootstrap(env.BOOTSTRAP_TOKEN, JSON.stringify({ organization: {} }));
    expect(reply.status).toBe(400);
  });

  it("gives a valid key to one of many concurrent callers, and not_found to the others", async () => {
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => bootstrap(env.BOOTSTRAP_TOKEN, JSON.stringify(BODY))),
    );
    const [winner, ...more] = replies.filter(({ status }) => status === 201);
    expect(more).toEqual([]);
    expect(replies.filter(({ status }) => status === 404)).toHaveLength(9);
    expect(winner?.body.api_key.key).toMatch(API_KEY_PATTERN);
    expect(winner?.headers.get("location")).toBe(`/v1/orgs/${winner?.body.id}`);
    const owner = new Client(winner?.body.api_key.key);
    const organizations = await owner.get("/v1/orgs");
    expect(organizations.body.data).toMatchObject([{ id: winner?.body.id, name: "Acme" }]);
    const members = await owner.get(`/v1/orgs/${winner?.body.id}/members`);
    expect(members.body.data).toMatchObject([
      { role: "owner", name: "Ada", display_name: "Ada", profile: { github: "ada" } },
    ]);
    const rows = await env.DB.prepare("select count(*) as n from organizations").first("n");
    expect(rows).toBe(1);
  });

  it("leaves its records in the audit log, by the bootstrap token", async () => {
    const { results } = await env.DB.prepare(
      "select action, actor_type, credential_id, client_address, changes from audit_log order by id",
    ).all<Record<string, string | null>>();
    const actions = results.map(({ action }) => action).toSorted();
    expect(actions).toEqual(["api_key.created", "member.added", "organization.created"]);
    for (const { actor_type, credential_id, client_address } of results) {
      expect([actor_type, credential_id]).toEqual(["bootstrap_token", null]);
      expect(client_address).toMatch(/^192\.0\.2\./);
    }
    expect(JSON.stringify(results)).not.toContain(env.BOOTSTRAP_TOKEN);
  });

  it("answers every later request like an unknown path", async () => {
    const json = JSON.stringify(BODY);
    for (const reply of [
      await bootstrap(env.BOOTSTRAP_TOKEN, json),
      await bootstrap(env.BOOTSTRAP_TOKEN, JSON.stringify({ organization: {} })),
      await bootstrap(env.BOOTSTRAP_TOKEN, "{"),
      await bootstrap(env.BOOTSTRAP_TOKEN, json, { type: "application/problem+json" }),
    ]) {
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual({ code: "not_found", message: "There is no such path." });
    }
  });
});
