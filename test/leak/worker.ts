import { env } from "cloudflare:workers";
import { createApp } from "../../src/app.ts";
import type { Fetch } from "../../src/lib/fetch.ts";
import { newAddress, type Parsed } from "../support/client.ts";
import { PROVIDER, TestIdentityProvider } from "../support/identity-provider.ts";
import { ISSUER, Issuer } from "../support/issuer.ts";

export const ORIGIN = "https://longshore.test";
const SESSION_COOKIE = "__Host-longshore";

export interface PlannedRequest {
  method: string;
  /** With its query. */
  path: string;
  /** An API key, a runner token, or the secret of a session. */
  credential?: string | undefined;
  body?: unknown;
  headers?: Record<string, string> | undefined;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  body: Parsed;
}

/** Admits every request, and tells the isolates the newest version of a key as the real objects do. */
function newLimiters(): typeof env.RATE_LIMITER {
  const versions = new Map<string, number>();
  const raise = (name: string, version: number) => {
    const newest = Math.max(versions.get(name) ?? 0, version);
    versions.set(name, newest);
    return newest;
  };
  const limiters = {
    getByName: (name: string) => ({
      consume: async (_: string, version: number) => ({
        admitted: true,
        by: "key",
        remaining: 1_000,
        waitMs: 0,
        version: raise(name, version),
      }),
      isKnown: async () => versions.has(name),
      version: async () => versions.get(name) ?? 0,
      raiseVersion: async (version: number) => void raise(name, version),
    }),
  };
  return limiters as unknown as typeof env.RATE_LIMITER;
}

/** A Worker without rate limits, with an issuer of tokens and an identity provider on its network. */
export class LeakWorker {
  readonly issuer: Issuer;
  readonly provider: TestIdentityProvider;
  /** The newest logged error. */
  error = "";
  readonly #app;
  readonly #bindings: Env;

  private constructor(
    issuer: Issuer,
    provider: TestIdentityProvider,
    settings: Record<string, string>,
  ) {
    this.issuer = issuer;
    this.provider = provider;
    this.#app = createApp({
      fetch: this.#network,
      log: (level, event, fields) => {
        if (level === "error") this.error = `${event} ${JSON.stringify(fields)}`;
      },
    });
    this.#bindings = {
      ...env,
      ...settings,
      RATE_LIMITER: newLimiters(),
      ADDRESS_LIMITER: { limit: async () => ({ success: true }) },
    };
  }

  static async create(settings: Record<string, string>): Promise<LeakWorker> {
    return new LeakWorker(await Issuer.create(), await TestIdentityProvider.create(), settings);
  }

  /** @throws Error for a status of 500. */
  async send({ method, path, credential, body, headers }: PlannedRequest): Promise<Reply> {
    const request = new Request(new URL(path, ORIGIN), {
      method,
      redirect: "manual",
      headers: {
        "cf-connecting-ip": newAddress(),
        "sec-fetch-site": "same-origin",
        ...(credential !== undefined && credentialHeader(credential)),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const pending: Promise<unknown>[] = [];
    const execution = {
      waitUntil: (promise: Promise<unknown>) => void pending.push(promise),
      passThroughOnException: () => undefined,
    };
    const response = await this.#app.fetch(
      request,
      this.#bindings,
      execution as unknown as ExecutionContext,
    );
    const text = await response.text();
    await Promise.allSettled(pending);
    const { status } = response;
    if (status === 500) throw new Error(`${method} ${path} answered 500: ${this.error}`);
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    const parsed = isJson && text ? JSON.parse(text) : undefined;
    return { status, headers: response.headers, text, body: parsed };
  }

  readonly #network: Fetch = async (url, init) => {
    const { origin } = new URL(url);
    if (origin === new URL(ISSUER).origin) return this.issuer.fetch(url, init);
    if (origin === new URL(PROVIDER).origin) return this.provider.fetch(url, init);
    return new Response("ok");
  };
}

/** The prefix of a credential tells its kind: only a session is sent as a cookie. */
function credentialHeader(credential: string): Record<string, string> {
  if (credential.startsWith("lss_")) return { cookie: `${SESSION_COOKIE}=${credential}` };
  return { "x-api-key": credential };
}
