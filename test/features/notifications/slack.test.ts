import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { urlContext } from "../../../src/features/notifications/integrations/index.ts";
import { cipherOf } from "../../../src/lib/cipher.ts";
import type { Fetch } from "../../../src/lib/fetch.ts";
import { CANARY_PREFIX } from "../../support/canary-secrets.ts";
import type { Parsed } from "../../support/client.ts";
import {
  CLIENT_ID,
  CLIENT_SECRET,
  GRANTED,
  HOOK,
  SlackHarness,
} from "../../support/slack-harness.ts";
import { join, newKey, newProject, newWorld, type World } from "../../support/world.ts";

const MINUTES = 60_000;
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
  it("starts at Slack, with the scope incoming-webhook only", async () => {
    const url = await new SlackHarness().install(world.client, project.id);
    expect(url.origin + url.pathname).toBe("https://slack.com/oauth/v2/authorize");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: CLIENT_ID,
      scope: "incoming-webhook",
      redirect_uri: "https://longshore.test/v1/slack/callback",
      state: expect.stringMatching(/^[\w-]+\.v2\.[\w-]+$/),
    });
    expect(url.href).not.toContain(project.id);
  });

  it("creates an integration with an encrypted URL", async () => {
    const harness = new SlackHarness();
    const state = await harness.newState(world.client, project.id);
    const reply = await harness.callback({ code: "the code", state });
    expect(reply.status).toBe(200);

    const [{ url, init } = { url: "", init: {} }, ...more] = harness.requests;
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
    const id = String(integration?.["id"]);
    const place = urlContext({ id, organizationId: world.id, projectId: project.id });
    expect(await cipher.open(String(integration?.["url"]), place)).toBe(HOOK);
    expect(JSON.stringify(harness.logged)).not.toMatch(/hooks\.slack|canary-secret/);
  });

  it("ends with a page that has the commands for the confirmation", async () => {
    const harness = new SlackHarness();
    const state = await harness.newState(world.client, project.id);
    const { text } = await harness.callback({ code: "c", state });
    const [integration] = await listIntegrations(project.id);
    const path = `/v1/projects/${project.id}/notification-integrations/${integration?.["id"]}`;
    const shown = text.replaceAll("&quot;", '"');
    const header = '-H "x-api-key: $LONGSHORE_API_KEY"';
    expect(shown).toContain(`curl "https://longshore.test${path}" ${header}`);
    expect(shown).toContain(`curl -X POST "https://longshore.test${path}/confirm" ${header}`);
    expect(shown).toContain("within 24 hours");
    const { client } = await newKey(world);
    expect((await client.post(`${path}/confirm`, undefined)).status).toBe(201);
  });

  it("ends with a page without scripts, whatever the name of the project", async () => {
    const harness = new SlackHarness();
    const state = await harness.newState(world.client, project.id);
    const { headers, text } = await harness.callback({ code: "c", state });
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
  it("creates one integration, and gets the same response if it is sent again", async () => {
    const harness = new SlackHarness();
    const state = await harness.newState(world.client, project.id);
    const first = await harness.callback({ code: "c", state });
    const second = await harness.callback({ code: "another", state });
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(harness.requests).toHaveLength(1);
    expect(await listIntegrations(project.id)).toHaveLength(1);
  });

  it("creates one integration for concurrent callbacks", async () => {
    const harness = new SlackHarness();
    const state = await harness.newState(world.client, project.id);
    const codes = ["a", "b", "c", "d", "e"];
    const replies = await Promise.all(codes.map((code) => harness.callback({ code, state })));
    expect(replies.map(({ status }) => status)).toEqual(codes.map(() => 200));
    expect(await listIntegrations(project.id)).toHaveLength(1);
  });

  it("does not restore an integration that was deleted since", async () => {
    const harness = new SlackHarness();
    const state = await harness.newState(world.client, project.id);
    await harness.callback({ code: "c", state });
    for (const table of ["deliveries", "integrations"]) {
      await env.DB.prepare(`delete from ${table} where project_id = ?`).bind(project.id).run();
    }
    expect((await harness.callback({ code: "another", state })).status).toBe(200);
    expect(harness.requests).toHaveLength(1);
    expect(await listIntegrations(project.id)).toEqual([]);
  });

  it("is valid for ten minutes", async () => {
    const harness = new SlackHarness();
    const [late, later] = [
      await harness.newState(world.client, project.id),
      await harness.newState(world.client, project.id),
    ];
    harness.aheadMs = 10 * MINUTES - 1_000;
    expect((await harness.callback({ code: "c", state: late })).status).toBe(200);
    harness.aheadMs = 10 * MINUTES + 1_000;
    await expectRefused(harness, later, "older than ten minutes");
  });

  it("is refused if it was altered, cut or issued elsewhere", async () => {
    const harness = new SlackHarness();
    const state = await harness.newState(world.client, project.id);
    const swap = (at: number) =>
      state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1);
    const cipher = await cipherOf(env.ENCRYPTION_KEYS);
    const elsewhere = await cipher.seal(
      JSON.stringify({ projectId: project.id, keyId: world.keyId, expiresAt: Date.now() * 2 }),
      urlContext({ id: "", organizationId: world.id, projectId: project.id }),
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
    for (const each of broken) await expectRefused(harness, each, "altered, or not issued here");
    expect(harness.requests).toEqual([]);
  });

  async function expectRefused(harness: SlackHarness, state: string, why: string) {
    const { status, body } = await harness.callback({ code: "c", state });
    expect([status, body.code]).toEqual([400, "bad_input"]);
    expect(body.cause.issues).toEqual([{ path: "state", message: expect.stringContaining(why) }]);
  }
});

describe("the user who started an installation", () => {
  /** A second owner of the project. */
  async function newOwner() {
    const member = await join(world);
    const members = `/v1/projects/${project.id}/members`;
    await world.client.post(members, { member_ids: [member.membershipId], role: "owner" });
    return { ...member, path: `${members}/${member.membershipId}` };
  }

  it("is refused if the role was revoked", async () => {
    const harness = new SlackHarness();
    const owner = await newOwner();
    const state = await harness.newState(owner.client, project.id);
    await world.client.put(owner.path, { role: "contributor" });
    const reply = await harness.callback({ code: "c", state });
    expect([reply.status, reply.body.code]).toEqual([403, "forbidden"]);
    expect(harness.requests).toEqual([]);
  });

  it.each([
    ["the key", (keyId: string) => `/v1/orgs/${world.id}/api-keys/${keyId}`],
    ["the membership", (_: string, id: string) => `/v1/orgs/${world.id}/members/${id}`],
  ])("is refused if %s was deleted", async (_, pathOf) => {
    const harness = new SlackHarness();
    const owner = await newOwner();
    const state = await harness.newState(owner.client, project.id);
    const { client } = await newKey(world);
    expect((await client.delete(pathOf(owner.keyId, owner.membershipId))).status).toBe(204);
    const reply = await harness.callback({ code: "c", state });
    expect([reply.status, reply.body.code]).toEqual([400, "bad_input"]);
    expect(harness.requests).toEqual([]);
  });

  it("is refused if the key has expired", async () => {
    const harness = new SlackHarness();
    const { client } = await newKey(world, { expiresAt: Date.now() + 5 * MINUTES });
    const state = await harness.newState(client, project.id);
    harness.aheadMs = 6 * MINUTES;
    expect((await harness.callback({ code: "c", state })).status).toBe(400);
  });

  it("is refused if the role is revoked during the request to Slack", async () => {
    const owner = await newOwner();
    const harness = new SlackHarness(async () => {
      await world.client.put(owner.path, { role: "viewer" });
      return Response.json(GRANTED);
    });
    const state = await harness.newState(owner.client, project.id);
    expect((await harness.callback({ code: "c", state })).status).toBe(403);
    expect(harness.requests).toHaveLength(1);
    expect(await listIntegrations(project.id)).toEqual([]);
  });

  it("is refused if the project was deleted", async () => {
    const harness = new SlackHarness();
    const other = await newProject(world.client);
    const state = await harness.newState(world.client, other.id);
    await world.client.delete(`/v1/projects/${other.id}`);
    expect((await harness.callback({ code: "c", state })).status).toBe(400);
  });
});

describe("a project with 20 integrations", () => {
  it("accepts no installation", async () => {
    const insert = env.DB.prepare(
      `insert into integrations (id, organization_id, project_id, type, configuration, url,
        shown_url, created_at, updated_at) values (?, ?, ?, 'webhook', '{}', '', '', 1, 1)`,
    );
    const rows = Array.from({ length: 20 }, () =>
      insert.bind(crypto.randomUUID(), world.id, project.id),
    );
    await env.DB.batch(rows);
    const harness = new SlackHarness();
    const state = await harness.newState(world.client, project.id);
    const reply = await harness.callback({ code: "c", state });
    expect([reply.status, reply.body.code]).toEqual([409, "conflict"]);
    expect(await listIntegrations(project.id)).toHaveLength(20);
  });
});

describe("a response of Slack", () => {
  const hook = (url: unknown) => async () => Response.json({ ok: true, incoming_webhook: { url } });
  const refusal = (error: unknown) => async () => Response.json({ ok: false, error });
  const endless = () =>
    new ReadableStream({
      pull: (controller) =>
        controller.enqueue(new TextEncoder().encode(CANARY_PREFIX.repeat(1_000))),
    });
  const answers: [string, Fetch, string][] = [
    ["says that the code is invalid", refusal("invalid_code"), "bad_input"],
    ["says that the code was used", refusal("code_already_used"), "bad_input"],
    ["says that the secret is wrong", refusal("bad_client_secret"), "internal"],
    ["has an unknown error", refusal(`${CANARY_PREFIX}error`), "internal"],
    ["has an error that is no text", refusal({ error: CANARY_PREFIX }), "internal"],
    ["has the status 500", async () => new Response(CANARY_PREFIX, { status: 500 }), "internal"],
    ["is a redirect", async () => Response.redirect("https://slack.com/elsewhere"), "internal"],
    ["is empty", async () => new Response(null), "internal"],
    ["is no JSON", async () => new Response(CANARY_PREFIX), "internal"],
    ["is no object", async () => Response.json("text"), "internal"],
    ["is null", async () => Response.json(null), "internal"],
    ["has no webhook", async () => Response.json({ ok: true }), "internal"],
    ["has a webhook that is no text", hook(1), "internal"],
    ["has a webhook on another host", hook("https://hooks.slack.com.evil.example/x"), "internal"],
    ["has a webhook on Slack's own host", hook("https://slack.com/x"), "internal"],
    ["has a webhook without TLS", hook("http://hooks.slack.com/x"), "internal"],
    ["has a webhook on another port", hook("https://hooks.slack.com:8443/x"), "internal"],
    ["has a webhook with a password", hook("https://a:b@hooks.slack.com/x"), "internal"],
    ["has a webhook that is no URL", hook("hooks.slack.com/x"), "internal"],
    ["does not end", async () => new Response(endless()), "internal"],
    [
      "is too large",
      async () => Response.json({ ...GRANTED, more: "x".repeat(65_536) }),
      "internal",
    ],
    ["does not arrive", () => Promise.reject(new TypeError(CANARY_PREFIX)), "internal"],
  ];

  it.each(answers)(
    "that %s creates no integration, and no part of it is shown",
    async (_, answer, code) => {
      const harness = new SlackHarness(answer);
      const state = await harness.newState(world.client, project.id);
      const reply = await harness.callback({ code: "c", state });
      expect(reply.body.code).toBe(code);
      expect(JSON.stringify(harness.logged)).not.toContain(CANARY_PREFIX);
      expect(harness.logged).toContainEqual(["error", "slack.not_installed", expect.anything()]);
      expect(await listIntegrations(project.id)).toEqual([]);
    },
  );

  const never = () => new Promise<never>(() => undefined);
  const hanging: [string, Fetch][] = [
    [
      "no answer",
      (_, { signal }) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    ],
    ["half an answer", async () => new Response(new ReadableStream({ pull: never }))],
  ];

  it("that takes over ten seconds is a timeout", async () => {
    const times: number[] = [];
    vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
      times.push(ms);
      const controller = new AbortController();
      const reason = new DOMException("The operation timed out.", "TimeoutError");
      void scheduler.wait(0).then(() => controller.abort(reason));
      return controller.signal;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const replies = hanging.map(async ([, answer]) => {
      const harness = new SlackHarness(answer);
      const state = await harness.newState(world.client, project.id);
      return harness.callback({ code: "c", state });
    });
    for (const { status, body } of await Promise.all(replies)) {
      expect([status, body.code]).toEqual([408, "timeout"]);
    }
    expect(times).toEqual(hanging.map(() => 10_000));
    expect(await listIntegrations(project.id)).toEqual([]);
  });

  it("that is an error leaves the state valid", async () => {
    let isWell = false;
    const harness = new SlackHarness(async () =>
      isWell ? Response.json(GRANTED) : new Response("", { status: 503 }),
    );
    const state = await harness.newState(world.client, project.id);
    expect((await harness.callback({ code: "c", state })).status).toBe(500);
    isWell = true;
    expect((await harness.callback({ code: "c", state })).status).toBe(200);
  });

  it("may come from the server that SLACK_ORIGIN names", async () => {
    const url = "http://localhost:9999/services/x";
    const harness = new SlackHarness(hook(url), { SLACK_ORIGIN: "http://localhost:9999" });
    const installation = await harness.install(world.client, project.id);
    expect(installation.origin).toBe("http://localhost:9999");
    const state = String(installation.searchParams.get("state"));
    expect((await harness.callback({ code: "c", state })).status).toBe(200);
    expect(harness.requests[0]?.url).toBe("http://localhost:9999/api/oauth.v2.access");
  });
});

describe("a callback", () => {
  it.each([
    ["error", { error: "access_denied", state: "x" }],
    ["code", { state: "x" }],
    ["state", { code: "x" }],
    ["code", {}],
    ["code", { code: "x".repeat(4_001) }],
  ])("is refused without a grant, with an issue about %s", async (path, query) => {
    const harness = new SlackHarness();
    const { status, body } = await harness.callback(query as Record<string, string>);
    expect([status, body.code]).toEqual([400, "bad_input"]);
    expect(body.cause.issues).toEqual([{ path, message: expect.any(String) }]);
    expect(harness.requests).toEqual([]);
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
  ])("names the settings that are missing: %j", async (bindings, message) => {
    const harness = new SlackHarness(undefined, bindings);
    const client = world.client.via(harness.fetch);
    for (const reply of [
      await client.get(`/v1/projects/${project.id}/slack/install`),
      await harness.callback({ code: "c", state: "s" }),
    ]) {
      expect([reply.status, reply.body.code]).toEqual([501, "not_implemented"]);
      expect(reply.body.message).toContain(message);
      expect(reply.headers.has("allow")).toBe(false);
    }
  });
});
