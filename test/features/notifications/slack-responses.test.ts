import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Fetch } from "../../../src/lib/fetch.ts";
import { CANARY_PREFIX } from "../../support/canary-secrets.ts";
import type { Parsed } from "../../support/client.ts";
import { GRANTED, listIntegrations, SlackHarness } from "../../support/slack-harness.ts";
import { newProject, newWorld, type World } from "../../support/world.ts";

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
