import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { urlContext } from "../../../src/features/notifications/integrations/index.ts";
import { cipherOf } from "../../../src/lib/cipher.ts";
import type { Parsed } from "../../support/client.ts";
import {
  CLIENT_ID,
  CLIENT_SECRET,
  GRANTED,
  HOOK,
  listIntegrations,
  SlackHarness,
} from "../../support/slack-harness.ts";
import { join, newKey, newProject, newWorld, type World } from "../../support/world.ts";

const MINUTES = 60_000;

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
