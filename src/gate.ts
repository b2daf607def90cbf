import type { Context, Handler } from "hono";
import type { CoreContext } from "./context.ts";
import { type DatabaseSession, openForReading, openForWriting } from "./db/client.ts";
import {
  Limiter,
  POLICIES,
  type PolicyName,
  rateLimitHeaders,
  resetSeconds,
  type Strangers,
  type Verdict,
} from "./features/rate-limits/index.ts";
import type { Framed } from "./http/frame.ts";
import type { Operations } from "./http/operations.ts";
import { cipherOf } from "./lib/cipher.ts";
import type { Clock } from "./lib/clock.ts";
import type { PresentedKey } from "./lib/credentials.ts";
import { MethodNotImplemented, NotFound, RateLimited, Unauthenticated } from "./lib/errors.ts";
import { describeError, type Log } from "./lib/log.ts";
import { type KeyRing, type Principal, Principals } from "./principals.ts";

/** One kind of credential, and the routes that it opens. */
export interface Plane<P extends Principal, Bound extends CoreContext> {
  api: {
    fetch(
      request: Request,
      context: Bound,
      execution: Context["executionCtx"],
    ): Response | Promise<Response>;
  };
  keyRing: KeyRing<P>;
  /** Reads a credential without asking anybody; undefined for one of another kind. */
  parseKey(text: string): Promise<PresentedKey | undefined>;
  /** What a request that `principal` makes is bound to. */
  bind(core: CoreContext, principal: P, env: Env): Bound;
}

/** What stands before the routes of every plane. */
export interface Surroundings {
  operations: Operations;
  strangers: Strangers;
  clock: Clock;
  log: Log;
}

/** A request on its way in: its key is good, and its route and policy are known. */
interface Entry {
  c: Context<Framed>;
  key: PresentedKey;
  policy: PolicyName;
  isRead: boolean;
}

/**
 * The way to every protected route: the key, the rate limit, and the order of the two beside the
 * work. A malformed key costs nothing. A read asks the limiter and does its work side by side; a
 * write asks first. Either way the limiter knows the newest version of the key: whatever was done
 * for an older one is thrown away, and done again for what the key is now.
 */
export class Gate<P extends Principal, Bound extends CoreContext> {
  readonly #plane: Plane<P, Bound>;
  readonly #operations: Operations;
  readonly #strangers: Strangers;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #principals: Principals<P>;
  readonly #limiter: Limiter;

  constructor(plane: Plane<P, Bound>, { operations, strangers, clock, log }: Surroundings) {
    this.#plane = plane;
    this.#strangers = strangers;
    this.#operations = operations;
    this.#clock = clock;
    this.#log = log;
    this.#principals = new Principals(plane.keyRing, clock);
    this.#limiter = new Limiter(clock, log);
  }

  readonly handle: Handler<Framed> = async (c) => {
    const key = await this.#plane.parseKey(c.req.header("x-api-key") ?? "");
    const address = addressOf(c);
    if (key && !this.#principals.remembers(key)) this.#strangers.refuseKnown(address);
    const principal = key && (await this.#principals.find(c.env.DB, key));
    if (!principal) {
      await this.#strangers.admit(c.env.ADDRESS_LIMITER, address);
      throw new Unauthenticated();
    }
    const operation = this.#operations.find(c.req.method, c.req.path);
    this.#trace(c, principal, operation?.path);
    const isRead = /^(GET|HEAD)$/.test(c.req.method) && !operation?.writes;
    const entry = { c, key, policy: toPolicy(operation?.policy), isRead };
    return isRead ? this.#read(entry, principal) : this.#write(entry, principal);
  };

  async #read(entry: Entry, principal: P): Promise<Response> {
    const refusal = this.#limiter.remembered(entry.key.secretHash, entry.policy);
    if (refusal) this.#obey(entry, refusal);
    const work = this.#dispatch(entry, principal);
    // Whatever becomes of the work is heard below, unless the limiter refuses.
    work.catch(() => undefined);
    const current = await this.#admit(entry, principal);
    return mayTheSame(current, principal) ? work : this.#dispatch(entry, current);
  }

  /** A write goes on to its end, and to the announcement of what it changed, whoever hangs up. */
  async #write(entry: Entry, principal: P): Promise<Response> {
    const work = this.#dispatch(entry, await this.#admit(entry, principal));
    entry.c.executionCtx.waitUntil(work.catch(() => undefined));
    return work;
  }

  /** Has the limiter admit the request, and gives the principal as it is now. */
  async #admit(entry: Entry, principal: P): Promise<P> {
    const { c, key, policy } = entry;
    const { secretHash } = key;
    const { version: known } = principal;
    const verdict = await this.#limiter.take(c.env.RATE_LIMITER, secretHash, policy, known);
    this.#obey(entry, verdict);
    const isCurrent = verdict.version !== undefined && verdict.version <= known;
    const current = isCurrent ? principal : await this.#principals.refresh(c.env.DB, key);
    if (!current) throw new Unauthenticated();
    this.#noteUse(c, current);
    return current;
  }

  #obey({ c }: Entry, verdict: Verdict): void {
    Object.assign(c.var.trace.headers, rateLimitHeaders(verdict));
    if (!verdict.admitted) throw new RateLimited(Math.max(1, resetSeconds(verdict)));
  }

  async #dispatch({ c, isRead }: Entry, principal: P): Promise<Response> {
    this.#requireRoute(c);
    const session = isRead
      ? openForReading(c.env.DB, c.req.header("x-d1-bookmark"))
      : openForWriting(c.env.DB);
    try {
      const bound = this.#plane.bind(this.#coreOf(c, session), principal, c.env);
      return await this.#plane.api.fetch(c.req.raw, bound, c.executionCtx);
    } finally {
      const bookmark = session.bookmark();
      if (bookmark) c.var.trace.headers["x-d1-bookmark"] = bookmark;
    }
  }

  #requireRoute(c: Context<Framed>): void {
    if (!this.#operations.find(c.req.method, c.req.path)) refuseRoute(this.#operations, c);
  }

  #coreOf(c: Context<Framed>, { db }: DatabaseSession): CoreContext {
    return {
      db,
      clock: this.#clock,
      log: this.#log,
      cipher: () => cipherOf(c.env.ENCRYPTION_KEYS),
      announceKeys: (keys) => this.#limiter.announce(c.env.RATE_LIMITER, keys),
    };
  }

  #noteUse(c: Context<Framed>, principal: P): void {
    const noted = this.#principals.recordUse(c.env.DB, principal).catch((error: unknown) => {
      this.#log("error", "api_key.use_not_recorded", describeError(error));
    });
    c.executionCtx.waitUntil(noted);
  }

  #trace(c: Context<Framed>, principal: Principal, route: string | undefined): void {
    const { trace } = c.var;
    trace.keyId = principal.keyId;
    trace.organizationId = principal.organizationId;
    if (route) trace.route = route;
  }
}

/** Throws what a path without this method deserves: it has others, or there is no such path. */
export function refuseRoute(operations: Operations, c: Context<Framed>): never {
  const allowed = operations.allowedMethods(c.req.path);
  if (allowed.length > 0) throw new MethodNotImplemented(c.req.method, allowed);
  throw new NotFound("path");
}

/** The client's address, as Cloudflare gives it. */
export function addressOf(c: Context<Framed>): string {
  return c.req.header("cf-connecting-ip") ?? "unknown";
}

/** Whether what was done for the one may stand for the other. */
function mayTheSame(a: Principal & { role?: string }, b: Principal & { role?: string }): boolean {
  return a.version === b.version && a.role === b.role;
}

function toPolicy(name: string | undefined): PolicyName {
  return name !== undefined && name in POLICIES ? (name as PolicyName) : "default";
}
