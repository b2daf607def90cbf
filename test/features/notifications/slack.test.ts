import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../../src/app.ts";
import { urlContext } from "../../../src/features/notifications/integrations/index.ts";
import { cipherOf } from "../../../src/lib/cipher.ts";
import type { Fetch } from "../../../src/lib/fetch.ts";
import { consoleLog } from "../../../src/lib/log.ts";
import { CANARY_PREFIX } from "../../support/canary-secrets.ts";
import { Client, type Parsed } from "../../support/client.ts";
import { join, newKey, newProject, newWorld, type World } from "../../support/world.ts";

const MINUTES = 60_000;
const CLIENT_ID = "1234.5678";
const CLIENT_SECRET = `${CANARY_PREFIX}of-the-slack-app`;
const HOOK = `https://hooks.slack.com/services/T0/B0/${CANARY_PREFIX}hook`;
const GRANTED = {
  ok: true,
  access_token: `${CANARY_PREFIX}token`,
  incoming_webhook: { url: HOOK },
};

/** A worker of its own with a Slack that answers as a test says, and a clock to set forward. */
class Stand {
  readonly asked: { url: string; init: RequestInit }[] = [];
  readonly logged: unknown[] = [];
  readonly stranger: Client;
  readonly fetch: (request: Request) => Promise<Response>;
  ahead = 0;

  constructor(answer: Fetch = async () => Response.json(GRANTED), bindings: object = {}) {
    const app = createApp({
      clock: { now: () => Date.now() + this.ahead },
      log: (...line) => {
        this.logged.push(line);
        // Through the console, where the suite's set-up scans every line for planted secrets.
        consoleLog(...line);
      },
      fetch: (url, init) => {
        this.asked.push({ url, init });
        return answer(url, init);
      },
    });
    const settings = { SLACK_CLIENT_ID: CLIENT_ID, SLACK_CLIENT_SECRET: CLIENT_SECRET };
    this.fetch = async (request) => {
      const execution = createExecutionContext();
      const response = await app.fetch(request, { ...env, ...settings, ...bindings }, execution);
      await waitOnExecutionContext(execution);
      return response;
    };
    this.stranger = new Client(undefined, this.fetch);
  }

  async install(client: Client, projectId: string): Promise<URL> {
    const reply = await client.via(this.fetch).get(`/v1/projects/${projectId}/slack/install`);
    if (reply.status !== 200) throw new Error(reply.text);
    return new URL(reply.body.url);
  }

  async newState(client: Client, projectId: string): Promise<string> {
    return String((await this.install(client, projectId)).searchParams.get("state"));
  }

  comeBack(query: Record<string, string>) {
    return this.stranger.get(`/v1/slack/callback?${new URLSearchParams(query)}`);
  }
}

async function listIntegrations(projectId: string) {
  const { results } = await env.DB.prepare("select * from integrations where project_id = ?")
    .bind(projectId)
    .all<Record<string, string | number | null>>();
  return results;
}

let world: World;
let project: Parsed;

beforeAll(async () => {
  world = await newWorld();
  project = await newProject(world.client, { name: "<b>shop</b>" });
});

afterEach(async () => {
  for (const table of ["deliveries", "integrations", "changelog_entries"]) {
    await env.DB.prepare(`delete from ${table} where project_id = ?`).bind(project.id).run();
  }
});

describe("the installation", () => {
  it("begins at Slack, with a webhook as all that is asked for", async () => {
    const url = await new Stand().install(world.client, project.id);
    expect(url.origin + url.pathname).toBe("https://slack.com/oauth/v2/authorize");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: CLIENT_ID,
      scope: "incoming-webhook",
      redirect_uri: "https://longshore.test/v1/slack/callback",
      state: expect.stringMatching(/^[\w-]+\.[\w-]+$/),
    });
    expect(url.href).not.toContain(project.id);
  });

  it("takes an owner of the project", async () => {
    const member = await join(world);
    const members = `/v1/projects/${project.id}/members`;
    await world.client.post(members, { member_ids: [member.membershipId], role: "contributor" });
    const reply = await member.client.get(`/v1/projects/${project.id}/slack/install`);
    expect([reply.status, reply.body.code]).toEqual([403, "forbidden"]);
  });

  it("makes an integration whose URL nobody sees", async () => {
    const stand = new Stand();
    const state = await stand.newState(world.client, project.id);
    const reply = await stand.comeBack({ code: "the code", state });
    expect(reply.status).toBe(200);

    const [{ url, init } = { url: "", init: {} }, ...more] = stand.asked;
    expect(more).toEqual([]);
    expect(url).toBe("https://slack.com/api/oauth.v2.access");
    expect(init).toMatchObject({ method: "POST", redirect: "manual" });
    expect(new Headers(init.headers).get("authorization")).toBe(
      `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}`,
    );
    expect(Object.fromEntries(new URLSearchParams(String(init.body)))).toEqual({
      code: "the code",
      redirect_uri: "https://longshore.test/v1/slack/callback",
    });

    const [integration, ...others] = await listIntegrations(project.id);
    expect(others).toEqual([]);
    expect(integration).toMatchObject({
      organization_id: world.id,
      type: "slack",
      shown_url: "",
      secret: null,
      links_to: "https://longshore.test",
    });
    expect(Object.values(JSON.parse(String(integration?.["configuration"])))).toEqual(
      Array.from({ length: 7 }, () => true),
    );
    const cipher = await cipherOf(env.ENCRYPTION_KEYS);
    const place = urlContext(world.id, String(integration?.["id"]));
    expect(await cipher.open(String(integration?.["url"]), place)).toBe(HOOK);
    expect(JSON.stringify(stand.logged)).not.toMatch(/hooks\.slack|canary-secret/);
  });

  it("is on record, and the channel is the first to hear of it", async () => {
    const stand = new Stand();
    const state = await stand.newState(world.client, project.id);
    await stand.comeBack({ code: "c", state });
    const [integration] = await listIntegrations(project.id);
    const one = (table: string) =>
      env.DB.prepare(`select * from ${table} where project_id = ?`).bind(project.id).first();
    expect(await one("changelog_entries")).toMatchObject({
      account_id: world.accountId,
      membership_id: world.membershipId,
      key_id: world.keyId,
      action: "created",
      record_type: "integration",
      record_id: integration?.["id"],
    });
    expect(await one("deliveries")).toMatchObject({
      integration_id: integration?.["id"],
      type: "changelog.created",
    });
  });

  it("ends with a page that runs nothing, whatever the project is called", async () => {
    const stand = new Stand();
    const state = await stand.newState(world.client, project.id);
    const { headers, text } = await stand.comeBack({ code: "c", state });
    expect(headers.get("content-type")).toBe("text/html; charset=UTF-8");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("private, no-store");
    expect(text).toContain("&lt;b&gt;shop&lt;/b&gt;");
    expect(text).not.toMatch(/<script|<style|\son\w+=|javascript:/i);
  });
});

describe("a state", () => {
  it("makes one integration, and answers as it did when it is sent again", async () => {
    const stand = new Stand();
    const state = await stand.newState(world.client, project.id);
    const first = await stand.comeBack({ code: "c", state });
    const second = await stand.comeBack({ code: "another", state });
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(stand.asked).toHaveLength(1);
    expect(await listIntegrations(project.id)).toHaveLength(1);
  });

  it("makes one also for many at once", async () => {
    const stand = new Stand();
    const state = await stand.newState(world.client, project.id);
    const codes = ["a", "b", "c", "d", "e"];
    const replies = await Promise.all(codes.map((code) => stand.comeBack({ code, state })));
    expect(replies.map(({ status }) => status)).toEqual(codes.map(() => 200));
    expect(await listIntegrations(project.id)).toHaveLength(1);
  });

  it("does not bring back what was deleted since", async () => {
    const stand = new Stand();
    const state = await stand.newState(world.client, project.id);
    await stand.comeBack({ code: "c", state });
    for (const table of ["deliveries", "integrations"]) {
      await env.DB.prepare(`delete from ${table} where project_id = ?`).bind(project.id).run();
    }
    expect((await stand.comeBack({ code: "another", state })).status).toBe(200);
    expect(stand.asked).toHaveLength(1);
    expect(await listIntegrations(project.id)).toEqual([]);
  });

  it("holds for ten minutes", async () => {
    const stand = new Stand();
    const [late, later] = [
      await stand.newState(world.client, project.id),
      await stand.newState(world.client, project.id),
    ];
    stand.ahead = 10 * MINUTES - 1_000;
    expect((await stand.comeBack({ code: "c", state: late })).status).toBe(200);
    stand.ahead = 10 * MINUTES + 1_000;
    await expectRefused(stand, later, "older than ten minutes");
  });

  it("that was changed, cut or made elsewhere is refused", async () => {
    const stand = new Stand();
    const state = await stand.newState(world.client, project.id);
    const swap = (at: number) =>
      state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1);
    const cipher = await cipherOf(env.ENCRYPTION_KEYS);
    const elsewhere = await cipher.seal(
      JSON.stringify({ projectId: project.id, keyId: world.keyId, expiresAt: Date.now() * 2 }),
      urlContext(world.id, ""),
    );
    const payload = state.indexOf(".") + 1;
    const broken = [
      ...[0, payload, payload + 20, payload + 100, state.length - 5].map(swap),
      state.slice(0, -2),
      `${state}AAAA`,
      state.replace("test.", ""),
      elsewhere,
      "test.",
      ".",
      "x",
      "test.!!!!",
    ];
    for (const each of broken) await expectRefused(stand, each, "not as it was given out");
    expect(stand.asked).toEqual([]);
  });

  async function expectRefused(stand: Stand, state: string, why: string) {
    const { status, body } = await stand.comeBack({ code: "c", state });
    expect([status, body.code]).toEqual([400, "bad_input"]);
    expect(body.cause.issues).toEqual([{ path: "state", message: expect.stringContaining(why) }]);
  }
});

describe("whoever has lost the authority since", () => {
  /** A member who owns the project along with the world's owner. */
  async function newOwner() {
    const member = await join(world);
    const members = `/v1/projects/${project.id}/members`;
    await world.client.post(members, { member_ids: [member.membershipId], role: "owner" });
    return { ...member, path: `${members}/${member.membershipId}` };
  }

  it("is refused for want of the role", async () => {
    const stand = new Stand();
    const owner = await newOwner();
    const state = await stand.newState(owner.client, project.id);
    await world.client.put(owner.path, { role: "contributor" });
    const reply = await stand.comeBack({ code: "c", state });
    expect([reply.status, reply.body.code]).toEqual([403, "forbidden"]);
    expect(stand.asked).toEqual([]);
  });

  it.each([
    ["the key", (keyId: string) => `/v1/orgs/${world.id}/api-keys/${keyId}`],
    ["the membership", (_: string, id: string) => `/v1/orgs/${world.id}/members/${id}`],
  ])("is refused for want of %s", async (_, pathOf) => {
    const stand = new Stand();
    const owner = await newOwner();
    const state = await stand.newState(owner.client, project.id);
    const { client } = await newKey(world);
    expect((await client.delete(pathOf(owner.keyId, owner.membershipId))).status).toBe(204);
    const reply = await stand.comeBack({ code: "c", state });
    expect([reply.status, reply.body.code]).toEqual([400, "bad_input"]);
    expect(stand.asked).toEqual([]);
  });

  it("is refused once the key has expired", async () => {
    const stand = new Stand();
    const { client } = await newKey(world, { expiresAt: Date.now() + 5 * MINUTES });
    const state = await stand.newState(client, project.id);
    stand.ahead = 6 * MINUTES;
    expect((await stand.comeBack({ code: "c", state })).status).toBe(400);
  });

  it("is refused if that happens while Slack is asked", async () => {
    const owner = await newOwner();
    const stand = new Stand(async () => {
      await world.client.put(owner.path, { role: "viewer" });
      return Response.json(GRANTED);
    });
    const state = await stand.newState(owner.client, project.id);
    expect((await stand.comeBack({ code: "c", state })).status).toBe(403);
    expect(stand.asked).toHaveLength(1);
    expect(await listIntegrations(project.id)).toEqual([]);
  });

  it("is refused for a project that is gone", async () => {
    const stand = new Stand();
    const other = await newProject(world.client);
    const state = await stand.newState(world.client, other.id);
    await world.client.delete(`/v1/projects/${other.id}`);
    expect((await stand.comeBack({ code: "c", state })).status).toBe(400);
  });
});

describe("a project with 20 integrations", () => {
  it("takes no more", async () => {
    const insert = env.DB.prepare(
      `insert into integrations (id, organization_id, project_id, type, configuration, url,
        shown_url, created_at, updated_at) values (?, ?, ?, 'webhook', '{}', '', '', 1, 1)`,
    );
    const rows = Array.from({ length: 20 }, () =>
      insert.bind(crypto.randomUUID(), world.id, project.id),
    );
    await env.DB.batch(rows);
    const stand = new Stand();
    const state = await stand.newState(world.client, project.id);
    const reply = await stand.comeBack({ code: "c", state });
    expect([reply.status, reply.body.code]).toEqual([409, "conflict"]);
    expect(await listIntegrations(project.id)).toHaveLength(20);
  });
});

describe("what Slack may answer", () => {
  const hook = (url: unknown) => async () => Response.json({ ok: true, incoming_webhook: { url } });
  const refusal = (error: unknown) => async () => Response.json({ ok: false, error });
  const endless = () =>
    new ReadableStream({
      pull: (controller) =>
        controller.enqueue(new TextEncoder().encode(CANARY_PREFIX.repeat(1_000))),
    });
  const answers: [string, Fetch, string][] = [
    ["that the code is none of its own", refusal("invalid_code"), "bad_input"],
    ["that the code was used", refusal("code_already_used"), "bad_input"],
    ["that the secret is wrong", refusal("bad_client_secret"), "internal"],
    ["an error that is none", refusal(`${CANARY_PREFIX}error`), "internal"],
    ["an error that is no text", refusal({ planted: CANARY_PREFIX }), "internal"],
    ["that it failed", async () => new Response(CANARY_PREFIX, { status: 500 }), "internal"],
    ["a redirect", async () => Response.redirect("https://slack.com/elsewhere"), "internal"],
    ["nothing", async () => new Response(null), "internal"],
    ["no JSON", async () => new Response(CANARY_PREFIX), "internal"],
    ["no object", async () => Response.json("text"), "internal"],
    ["null", async () => Response.json(null), "internal"],
    ["without a webhook", async () => Response.json({ ok: true }), "internal"],
    ["a webhook that is no text", hook(1), "internal"],
    ["a webhook on another host", hook("https://hooks.slack.com.evil.example/x"), "internal"],
    ["a webhook on Slack's own host", hook("https://slack.com/x"), "internal"],
    ["a webhook without TLS", hook("http://hooks.slack.com/x"), "internal"],
    ["a webhook on another port", hook("https://hooks.slack.com:8443/x"), "internal"],
    ["a webhook with a password", hook("https://a:b@hooks.slack.com/x"), "internal"],
    ["a webhook that is no URL", hook("hooks.slack.com/x"), "internal"],
    ["without an end", async () => new Response(endless()), "internal"],
    ["too much", async () => Response.json({ ...GRANTED, more: "x".repeat(65_536) }), "internal"],
    ["not at all", () => Promise.reject(new TypeError(CANARY_PREFIX)), "internal"],
  ];

  it.each(answers)("%s: nothing of it is shown, and nothing is made", async (_, answer, code) => {
    const stand = new Stand(answer);
    const state = await stand.newState(world.client, project.id);
    const reply = await stand.comeBack({ code: "c", state });
    expect(reply.body.code).toBe(code);
    expect(JSON.stringify(stand.logged)).not.toContain(CANARY_PREFIX);
    expect(stand.logged).toContainEqual(["error", "slack.not_installed", expect.anything()]);
    expect(await listIntegrations(project.id)).toEqual([]);
  });

  const never = () => new Promise<never>(() => undefined);
  const hanging: [string, Fetch][] = [
    [
      "no answer",
      (_, { signal }) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    ],
    ["half an answer", async () => new Response(new ReadableStream({ pull: never }))],
  ];

  it("no answer or half of one for ten seconds is a time-out", async () => {
    const replies = hanging.map(async ([, answer]) => {
      const stand = new Stand(answer);
      const state = await stand.newState(world.client, project.id);
      return stand.comeBack({ code: "c", state });
    });
    for (const { status, body } of await Promise.all(replies)) {
      expect([status, body.code]).toEqual([408, "timeout"]);
    }
    expect(await listIntegrations(project.id)).toEqual([]);
  });

  it("after a failure, the same state will do", async () => {
    let isWell = false;
    const stand = new Stand(async () =>
      isWell ? Response.json(GRANTED) : new Response("", { status: 503 }),
    );
    const state = await stand.newState(world.client, project.id);
    expect((await stand.comeBack({ code: "c", state })).status).toBe(500);
    isWell = true;
    expect((await stand.comeBack({ code: "c", state })).status).toBe(200);
  });

  it("is taken from a stand-in of Slack where that is the setting", async () => {
    const url = "http://localhost:9999/services/x";
    const stand = new Stand(hook(url), { SLACK_ORIGIN: "http://localhost:9999" });
    const installation = await stand.install(world.client, project.id);
    expect(installation.origin).toBe("http://localhost:9999");
    const state = String(installation.searchParams.get("state"));
    expect((await stand.comeBack({ code: "c", state })).status).toBe(200);
    expect(stand.asked[0]?.url).toBe("http://localhost:9999/api/oauth.v2.access");
  });
});

describe("what a browser may bring back", () => {
  it.each([
    ["error", { error: "access_denied", state: "x" }],
    ["code", { state: "x" }],
    ["state", { code: "x" }],
    ["code", {}],
    ["code", { code: "x".repeat(4_001) }],
  ])("without a grant is refused, with what to change: %s", async (path, query) => {
    const stand = new Stand();
    const { status, body } = await stand.comeBack(query as Record<string, string>);
    expect([status, body.code]).toEqual([400, "bad_input"]);
    expect(body.cause.issues).toEqual([{ path, message: expect.any(String) }]);
    expect(stand.asked).toEqual([]);
  });
});

describe("a deployment without a Slack app", () => {
  it.each([
    [{ SLACK_CLIENT_ID: "" }, "has to set SLACK_CLIENT_ID."],
    [{ SLACK_CLIENT_SECRET: undefined }, "has to set SLACK_CLIENT_SECRET."],
    [
      { SLACK_CLIENT_ID: "", SLACK_CLIENT_SECRET: "" },
      "has to set SLACK_CLIENT_ID and SLACK_CLIENT_SECRET.",
    ],
  ])("says which settings are missing: %j", async (bindings, message) => {
    const stand = new Stand(undefined, bindings);
    const client = world.client.via(stand.fetch);
    for (const reply of [
      await client.get(`/v1/projects/${project.id}/slack/install`),
      await stand.comeBack({ code: "c", state: "s" }),
    ]) {
      expect([reply.status, reply.body.code]).toEqual([501, "not_implemented"]);
      expect(reply.body.message).toContain(message);
      expect(reply.headers.has("allow")).toBe(false);
    }
  });
});
