import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { API_KEY_PATTERN } from "../../src/features/api-keys/credentials.ts";
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

// In the order of a deployment's life: the suite has one database, and bootstraps it once.
describe("bootstrapping", () => {
  it("takes the deployment's token, and nothing shorter or longer", async () => {
    for (const token of ["", "wrong", `${env.BOOTSTRAP_TOKEN}x`, env.BOOTSTRAP_TOKEN.slice(1)]) {
      expect((await bootstrap(token, JSON.stringify(BODY))).status).toBe(401);
    }
  });

  it.each(["", "Basic ", "Token "])(
    "takes it as a bearer token alone, not after '%s'",
    async (scheme) => {
      const reply = await bootstrap(env.BOOTSTRAP_TOKEN, JSON.stringify(BODY), { scheme });
      expect(reply.status).toBe(401);
    },
  );

  it("refuses a bad body, and is not used up by one", async () => {
    const reply = await bootstrap(env.BOOTSTRAP_TOKEN, JSON.stringify({ organization: {} }));
    expect(reply.status).toBe(400);
  });

  it("gives one of many callers at once a key that works, and the others not_found", async () => {
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => bootstrap(env.BOOTSTRAP_TOKEN, JSON.stringify(BODY))),
    );
    const [winner, ...more] = replies.filter(({ status }) => status === 201);
    expect(more).toEqual([]);
    expect(replies.filter(({ status }) => status === 404)).toHaveLength(9);
    expect(winner?.body.api_key.key).toMatch(API_KEY_PATTERN);
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

  it("is over for good, and then looks like any path that is not there", async () => {
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
