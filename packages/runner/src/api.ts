import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "./errors.ts";

const ANSWER_WITHIN_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
const LONGEST_RETRY_AFTER_MS = 60_000;
/** Longer than any attempt lives without a heartbeat: nothing is left to be said after it. */
const GIVE_UP_AFTER_MS = 600_000;

export type Desired = "continue" | "cancel" | "stop";

export interface Answer {
  status: number;
  desired: Desired;
  retryAfterMs: number | undefined;
  body: unknown;
}

interface Call {
  body?: unknown;
  leaseToken?: string;
  /** How long the call is repeated. */
  giveUpAfterMs?: number;
  /** Ends the pauses and the repetitions, but no request that is under way. */
  signal?: AbortSignal;
}

interface ErrorBody {
  code?: string;
  message?: string;
  cause?: { reason?: string } | null;
}

/** An answer that says no, which repeating would not change. */
export class Refusal extends Failure {
  readonly status: number;
  readonly desired: Desired;
  /** What the server says to people. */
  readonly explanation: string;
  /** What it says to programs beyond the code of the error: `cause.reason`. */
  readonly reason: string | undefined;

  constructor(what: string, { status, desired, body }: Answer) {
    const { code = "", message = "", cause } = (body ?? {}) as ErrorBody;
    super(`${what}: ${status} ${code} ${message}`.trimEnd());
    this.status = status;
    this.desired = desired;
    this.explanation = message;
    this.reason = cause?.reason;
  }

  /** Whether the attempt is not this runner's any more. */
  get isStop(): boolean {
    return this.status === 409 || this.desired === "stop";
  }
}

/** A call that nobody answered in its time. */
export class Unanswered extends Failure {}

/**
 * The runner plane. Every call is safe to repeat, so a call is repeated until it is answered: what
 * was lost on the way there and what was lost on the way back look the same from here.
 */
export class Api {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  async call(method: string, path: string, call: Call = {}): Promise<Answer> {
    const { giveUpAfterMs = GIVE_UP_AFTER_MS, signal } = call;
    const what = `${method} ${path}`;
    const deadline = performance.now() + giveUpAfterMs;
    for (let tries = 0; ; tries += 1) {
      const answer = await this.#send(method, path, call).catch(toReason);
      const isAnswer = typeof answer !== "string";
      if (isAnswer && answer.status < 300) return answer;
      if (isAnswer && !isPassing(answer.status)) throw new Refusal(what, answer);
      const reason = isAnswer ? String(answer.status) : answer;
      const pauseMs = (isAnswer ? answer.retryAfterMs : undefined) ?? pauseAfter(tries);
      if (signal?.aborted || performance.now() + pauseMs > deadline) {
        throw new Unanswered(`${what}: no answer in time (${reason}).`);
      }
      if (tries === 0) console.error(`${what}: ${reason}. It is repeated.`);
      await pause(pauseMs, signal);
    }
  }

  async #send(method: string, path: string, { body, leaseToken }: Call): Promise<Answer> {
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        "x-api-key": this.#token,
        ...(leaseToken && { "lease-token": leaseToken }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // The token would go along to wherever a redirection leads.
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await response.text();
    return {
      status: response.status,
      desired: readDesired(response.headers.get("deployment-desired")),
      retryAfterMs: readRetryAfter(response.headers.get("retry-after")),
      body: readBody(text, response.ok),
    };
  }
}

/** Waits, but not once the signal is given. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => undefined);
}

/** What passes by itself: a server that is away, busy, or in trouble. */
function isPassing(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

function pauseAfter(tries: number): number {
  const full = Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS);
  // So that many runners do not come back in step.
  return full / 2 + Math.random() * (full / 2);
}

function readDesired(text: string | null): Desired {
  return text === "cancel" || text === "stop" ? text : "continue";
}

function readRetryAfter(text: string | null): number | undefined {
  if (!text || !/^\d+$/.test(text)) return undefined;
  return Math.min(Number(text) * 1000, LONGEST_RETRY_AFTER_MS);
}

/** A good answer that was cut off counts as lost; a bad one may be a proxy's page. */
function readBody(text: string, isGood: boolean): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    if (isGood) throw new Error("an answer that is not JSON");
    return undefined;
  }
}

function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = (error.cause ?? {}) as { code?: string };
  return code ?? error.message;
}
