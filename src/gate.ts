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
import type { Call } from "./http/frame.ts";
import type { Operation, Operations } from "./http/operations.ts";
import { BoundedMap } from "./lib/bounded-map.ts";
import type { Clock } from "./lib/clock.ts";
import type { PresentedKey } from "./lib/credentials.ts";
import { MethodNotImplemented, NotFound, RateLimited, Unauthenticated } from "./lib/errors.ts";
import { describeError, type Log } from "./lib/log.ts";
import { type KeyRing, type Principal, Principals } from "./principals.ts";
import { systemContext } from "./system-context.ts";

const PARSED_KEYS = 10_000;

/** One kind of credential, and the routes that it opens. */
export interface Plane<P extends Principal, Bound extends CoreContext> {
  api: {
    fetch(
      request: Request,
      context: Bound,
      execution: ExecutionContext,
    ): Response | Promise<Response>;
  };
  /** For a route that names none. */
  policy: PolicyName;
  keyRing: KeyRing<P>;
  /** Reads a credential without asking anybody; undefined for one of another kind. */
  parseKey(text: string): Promise<PresentedKey | undefined>;
  refusal: string;
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

/** A request on its way in: its key is good, and its route is known if there is one. */
interface Entry {
  call: Call;
  key: PresentedKey;
  policy: PolicyName;
  isRead: boolean;
  isRoute: boolean;
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
  /** Keys that were good, by their text: to hash one costs more than to look it up. */
  readonly #parsed = new BoundedMap<string, PresentedKey>(PARSED_KEYS);

  constructor(plane: Plane<P, Bound>, { operations, strangers, clock, log }: Surroundings) {
    this.#plane = plane;
    this.#strangers = strangers;
    this.#operations = operations;
    this.#clock = clock;
    this.#log = log;
    this.#principals = new Principals(plane.keyRing, clock);
    this.#limiter = new Limiter(clock, log);
  }

  async handle(call: Call, operation: Operation | undefined): Promise<Response> {
    const { env, request, trace } = call;
    const text = request.headers.get("x-api-key") ?? "";
    const key = this.#parsed.get(text) ?? (await this.#plane.parseKey(text));
    if (key && !this.#principals.remembers(key)) this.#strangers.refuseKnown(call);
    const principal = key && (await this.#principals.find(env.DB, key));
    if (!principal) {
      await this.#strangers.admit(call);
      throw new Unauthenticated(this.#plane.refusal);
    }
    this.#parsed.set(text, key);
    trace.keyId = principal.keyId;
    trace.organizationId = principal.organizationId;
    const isRead = /^(GET|HEAD)$/.test(request.method) && !operation?.writes;
    const policy = toPolicy(operation?.policy) ?? this.#plane.policy;
    const entry = { call, key, policy, isRead, isRoute: operation !== undefined };
    return isRead ? this.#read(entry, principal) : this.#write(entry, principal);
  }

  async #read(entry: Entry, principal: P): Promise<Response> {
    const refusal = this.#limiter.remembered(entry.key.secretHash, entry.policy);
    if (refusal) this.#obey(entry, refusal);
    const work = this.#dispatch(entry, principal);
    // Whatever becomes of the work is heard below, unless the limiter refuses.
    work.catch(() => undefined);
    const current = await this.#admit(entry, principal, work);
    return haveSameAuthority(current, principal) ? work : this.#dispatch(entry, current);
  }

  /** A write goes on to its end, and to the announcement of what it changed, whoever hangs up. */
  async #write(entry: Entry, principal: P): Promise<Response> {
    const work = this.#dispatch(entry, await this.#admit(entry, principal));
    entry.call.execution.waitUntil(work.catch(() => undefined));
    return work;
  }

  /** Has the limiter admit the request, and gives the principal as it is now. */
  async #admit(entry: Entry, principal: P, beside?: Promise<unknown>): Promise<P> {
    const { call, key, policy } = entry;
    const { env } = call;
    const { secretHash } = key;
    const { version: known } = principal;
    const verdict = await this.#limiter.take(env.RATE_LIMITER, secretHash, policy, known, beside);
    this.#obey(entry, verdict);
    const isCurrent = verdict.version !== undefined && verdict.version <= known;
    const current = isCurrent ? principal : await this.#principals.refresh(env.DB, key);
    if (!current) throw this.#forget(call);
    this.#noteUse(call, current);
    return current;
  }

  #obey({ call }: Entry, verdict: Verdict): void {
    Object.assign(call.trace.headers, rateLimitHeaders(verdict));
    if (!verdict.admitted) throw new RateLimited(Math.max(1, resetSeconds(verdict)));
  }

  async #dispatch({ call, isRead, isRoute }: Entry, principal: P): Promise<Response> {
    if (!isRoute) refuseRoute(this.#operations, call);
    const { request, env, execution, trace } = call;
    const session = isRead
      ? openForReading(env.DB, request.headers.get("x-d1-bookmark") ?? undefined)
      : openForWriting(env.DB);
    try {
      const bound = this.#plane.bind(this.#coreOf(env, session, execution), principal, env);
      return await this.#plane.api.fetch(request, bound, execution);
    } finally {
      const bookmark = session.bookmark();
      if (bookmark && trace.keyId) trace.headers["x-d1-bookmark"] = bookmark;
    }
  }

  #coreOf(env: Env, { db }: DatabaseSession, execution: ExecutionContext): CoreContext {
    return {
      ...systemContext(db, env, execution, { clock: this.#clock, log: this.#log }),
      announceKeys: (keys) => this.#limiter.announce(env.RATE_LIMITER, keys),
    };
  }

  /** A key that is no more gets the answer of one that never was. */
  #forget({ trace }: Call): Unauthenticated {
    delete trace.keyId;
    delete trace.organizationId;
    for (const name of Object.keys(trace.headers)) delete trace.headers[name];
    return new Unauthenticated(this.#plane.refusal);
  }

  #noteUse({ env, execution }: Call, principal: P): void {
    if (!this.#principals.isNewUse(principal)) return;
    const noted = this.#principals.recordUse(env.DB, principal).catch((error: unknown) => {
      this.#log("error", "api_key.use_not_recorded", describeError(error));
    });
    execution.waitUntil(noted);
  }
}

/** Throws what a path without this method deserves: it has others, or there is no such path. */
export function refuseRoute(operations: Operations, { request, path }: Call): never {
  const allowed = operations.allowedMethods(path);
  if (allowed.length > 0) throw new MethodNotImplemented(request.method, allowed);
  throw new NotFound("path");
}

/** Whether what was done for the one may stand for the other. */
function haveSameAuthority(
  a: Principal & { role?: string },
  b: Principal & { role?: string },
): boolean {
  return a.version === b.version && a.role === b.role;
}

function toPolicy(name: string | undefined): PolicyName | undefined {
  return name !== undefined && name in POLICIES ? (name as PolicyName) : undefined;
}
