import { RunnerError } from "./errors.ts";
import { createFetch, UnreachableError } from "./proxies.ts";

/** What authenticates the runner. */
export interface Credential {
  /** A token that is valid now. */
  token(): Promise<string>;
  /** The tokens that are valid now, without a request. */
  readonly known: readonly string[];
  /** Called after a 401. Returns whether another token may be accepted. */
  renew(refused: string): boolean;
}

/** A token of a runner pool, which an admin has created. */
export class StaticToken implements Credential {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  get known(): readonly string[] {
    return [this.#token];
  }

  async token(): Promise<string> {
    return this.#token;
  }

  renew(): boolean {
    return false;
  }
}

/** Another request may succeed. */
export class TransientError extends Error {}

interface IssuedToken {
  text: string;
  /** In the time of `performance.now`, as all that follow. */
  renewAt: number;
  expiresAt: number;
}

/** The part of a token's life after which the runner exchanges a new one. */
const RENEW_AFTER = 2 / 3;

interface Exchange {
  /** The URL of the API. */
  url: string;
  organizationId: string;
  /** Gets a new token of the CI system. */
  requestIdToken(): Promise<string>;
  /** What the trust must give. */
  type: "runner_token" | "api_key";
  warn(message: string): void;
}

/** Exchanges tokens of the CI system, each before what it got for the last one expires. */
export class ExchangedToken implements Credential {
  readonly #exchange: Exchange;
  #current: IssuedToken | undefined;
  /** Requests share it, because the CI system's token is accepted once. */
  #pending: Promise<IssuedToken> | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get known(): readonly string[] {
    return this.#current ? [this.#current.text] : [];
  }

  async token(): Promise<string> {
    const current = this.#current;
    if (current && performance.now() < current.renewAt) return current.text;
    this.#pending ??= exchangeToken(this.#exchange).finally(() => {
      this.#pending = undefined;
    });
    try {
      this.#current = await this.#pending;
      return this.#current.text;
    } catch (error) {
      const isValid = current && performance.now() < current.expiresAt;
      if (!isValid || this.#current !== current) throw error;
      const reason = error instanceof Error ? error.message : error;
      this.#exchange.warn(`${reason} The last token is still used.`);
      return current.text;
    }
  }

  renew(refused: string): boolean {
    if (this.#current?.text === refused) this.#current = undefined;
    return true;
  }
}

interface ExchangedBody {
  key?: unknown;
  expires_in?: unknown;
  type?: unknown;
  message?: unknown;
}

const RESPONSE_TIMEOUT_MS = 10_000;
const PATH = "/v1/oidc/token";
const WRONG_TRUST = {
  runner_token: "The trust is for a membership. Create one for the runner pool.",
  api_key: "The trust is for a runner pool. Create one for a membership.",
} as const;

/** No message has a part of either token. */
async function exchangeToken(exchange: Exchange): Promise<IssuedToken> {
  const { url, organizationId: org_id, requestIdToken } = exchange;
  const token = await requestIdToken();
  const sentAt = performance.now();
  let reason = "no response";
  const response = await createFetch()(url + PATH, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ org_id, token }),
    redirect: "manual",
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  }).catch((error: unknown) => {
    if (error instanceof UnreachableError) reason = error.message;
    return undefined;
  });
  const body = ((await response?.json().catch(() => undefined)) ?? {}) as ExchangedBody;
  if (response?.status !== 201) throw refusal(response, body, reason);
  const { key, expires_in, type } = body;
  if (type !== exchange.type) throw new RunnerError(WRONG_TRUST[exchange.type], 2);
  if (typeof key !== "string" || typeof expires_in !== "number") {
    throw new TransientError(`POST ${PATH}: an incomplete response.`);
  }
  const lifeMs = expires_in * 1000;
  return { text: key, renewAt: sentAt + lifeMs * RENEW_AFTER, expiresAt: sentAt + lifeMs };
}

/** A conflict is temporary here: too many keys of the trust are valid. */
function refusal(
  response: Response | undefined,
  { message }: ExchangedBody,
  reason: string,
): Error {
  const status = response?.status;
  const isTransient =
    status === undefined || [408, 409, 429].includes(status) || (status >= 500 && status !== 501);
  const requestId = response?.headers.get("x-request-id");
  const words = [`POST ${PATH}:`, status ?? reason, typeof message === "string" && message];
  const text = [...words, requestId && `(request ${requestId})`].filter(Boolean).join(" ");
  return isTransient ? new TransientError(text) : new RunnerError(text);
}
