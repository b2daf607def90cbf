import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { createApp } from "../../src/app.ts";
import type { Fetch } from "../../src/lib/fetch.ts";
import { consoleLog } from "../../src/lib/log.ts";
import { CANARY_PREFIX } from "./canary-secrets.ts";
import { Client } from "./client.ts";

export const CLIENT_ID = "1234.5678";
export const CLIENT_SECRET = `${CANARY_PREFIX}of-the-slack-app`;
export const HOOK = `https://hooks.slack.com/services/T0/B0/${CANARY_PREFIX}hook`;
/** Slack, "oauth.v2.access". */
export const GRANTED = {
  ok: true,
  access_token: `${CANARY_PREFIX}token`,
  team: { id: "T0123456789", name: "Acme" },
  incoming_webhook: { url: HOOK, channel: "#deploys", channel_id: "C0123456789" },
};

/** An app with a replaced Slack and a clock that a test can advance. */
export class SlackHarness {
  readonly requests: { url: string; init: RequestInit }[] = [];
  readonly logged: unknown[] = [];
  readonly anonymous: Client;
  readonly fetch: (request: Request) => Promise<Response>;
  /** Runs the cron trigger. */
  readonly sweep: () => Promise<void>;
  aheadMs = 0;

  constructor(answer: Fetch = async () => Response.json(GRANTED), bindings: object = {}) {
    const app = createApp({
      clock: { now: () => Date.now() + this.aheadMs },
      log: (...line) => {
        this.logged.push(line);
        // Through the console, where the suite's set-up scans every line for canary secrets.
        consoleLog(...line);
      },
      fetch: (url, init) => {
        this.requests.push({ url, init });
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
    this.sweep = () => app.sweep(env, createExecutionContext());
    this.anonymous = new Client(undefined, this.fetch);
  }

  async install(client: Client, projectId: string): Promise<URL> {
    const reply = await client.via(this.fetch).get(`/v1/projects/${projectId}/slack/install`);
    if (reply.status !== 200) throw new Error(reply.text);
    return new URL(reply.body.url);
  }

  async newState(client: Client, projectId: string): Promise<string> {
    return String((await this.install(client, projectId)).searchParams.get("state"));
  }

  /** Installs Slack, and returns the ID of the integration. */
  async finish(client: Client, projectId: string): Promise<string> {
    const state = await this.newState(client, projectId);
    const reply = await this.callback({ code: "c", state });
    if (reply.status !== 200) throw new Error(reply.text);
    const [, id = ""] = /notification-integrations\/(\w{22})"/.exec(reply.text) ?? [];
    return id;
  }

  callback(query: Record<string, string>) {
    return this.anonymous.get(`/v1/slack/callback?${new URLSearchParams(query)}`);
  }
}

/** The rows of the integrations of a project. */
export async function listIntegrations(projectId: string) {
  const { results } = await env.DB.prepare("select * from integrations where project_id = ?")
    .bind(projectId)
    .all<Record<string, string | number | null>>();
  return results;
}
