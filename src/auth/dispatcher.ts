import type { CoreContext, SystemContext } from "../context.ts";
import { type Database, openForReading, openForWriting } from "../db/client.ts";
import type { Call } from "../http/request-pipeline.ts";
import type { Operation, Operations } from "../http/route-index.ts";
import type { Clock } from "../lib/clock.ts";
import { MethodNotImplemented, NotFound, RateLimited, Unauthenticated } from "../lib/errors.ts";
import { LIMITS } from "../lib/limits.ts";
import { describeError, type Log } from "../lib/log.ts";
import {
  type ClientAddressLimiter,
  Limiter,
  POLICIES,
  type PolicyName,
  type RateLimitResult,
  rateLimitHeaders,
  resetSeconds,
} from "../rate-limits/index.ts";
import { RequestsInProgress } from "../rate-limits/requests-in-progress.ts";
import { type Authenticated, Authenticator, type ParseKey } from "./authenticator.ts";
import { CredentialCache, type CredentialStore, type Principal } from "./credential-cache.ts";

/** One kind of credential, and the routes that it opens. */
export interface AuthScheme<P extends Principal, Bound extends CoreContext> {
  api: {
    fetch(
      request: Request,
      context: Bound,
      execution: ExecutionContext,
    ): Response | Promise<Response>;
  };
  /** For a route that names none. */
  policy: PolicyName;
  apiKeyStore: CredentialStore<P>;
  parseKey: ParseKey;
  refusal: string;
  /** What a request that `principal` makes is bound to. */
  bind(core: CoreContext, principal: P, env: Env): Bound;
}

/** What stands before the routes of every plane. */
export interface DispatcherDeps {
  operations: Operations;
  addressLimiter: ClientAddressLimiter;
  clock: Clock;
  log: Log;
  createContext(db: Database, env: Env, execution: ExecutionContext): SystemContext;
}

interface AuthenticatedRequest<P extends Principal> extends Authenticated<P> {
  call: Call;
  policy: PolicyName;
  isRead: boolean;
  isRoute: boolean;
}

/**
 * Authenticates every request to a protected route, applies the rate limits, and calls the route. A
 * read asks the limiter in parallel with its work; a write asks first,
 * and so does a read while many requests of its key are in progress. Either way the limiter knows
 * the newest version of the key: work that was done for an older version is discarded and repeated.
 */
export class Dispatcher<P extends Principal, Bound extends CoreContext> {
  readonly #plane: AuthScheme<P, Bound>;
  readonly #operations: Operations;
  readonly #authenticator: Authenticator<P>;
  readonly #log: Log;
  readonly #principals: CredentialCache<P>;
  readonly #limiter: Limiter;
  readonly #createContext: DispatcherDeps["createContext"];
  readonly #inProgress = new RequestsInProgress();

  constructor(plane: AuthScheme<P, Bound>, deps: DispatcherDeps) {
    const { operations, addressLimiter, clock, log, createContext } = deps;
    this.#plane = plane;
    this.#operations = operations;
    this.#createContext = createContext;
    this.#log = log;
    this.#principals = new CredentialCache(plane.apiKeyStore, clock);
    this.#limiter = new Limiter(clock, log);
    const limits = { addressLimiter, limiter: this.#limiter };
    this.#authenticator = new Authenticator(plane.parseKey, this.#principals, limits);
  }

  async handle(call: Call, operation: Operation | undefined): Promise<Response> {
    const { request, trace } = call;
    const authenticated = await this.#authenticator.authenticate(call);
    if (!authenticated) throw new Unauthenticated(this.#plane.refusal);
    const { key, principal } = authenticated;
    trace.keyId = principal.keyId;
    trace.organizationId = principal.organizationId;
    const isRead = /^(GET|HEAD)$/.test(request.method) && !operation?.writes;
    const policy = toPolicy(operation?.policy) ?? this.#plane.policy;
    const isRoute = operation !== undefined;
    const limited = { call, key, principal, policy, isRead, isRoute };
    return this.#inProgress.run(key.secretHash, (others) => {
      const isParallel = isRead && others < LIMITS.concurrentReads.value;
      return isParallel ? this.#readInParallel(limited) : this.#limitFirst(limited);
    });
  }

  async #readInParallel(request: AuthenticatedRequest<P>): Promise<Response> {
    const { principal } = request;
    const refusal = this.#limiter.cachedRefusal(request.key.secretHash, request.policy);
    if (refusal) this.#enforce(request, refusal);
    const work = this.#dispatch(request, principal);
    // An error of the work is handled below, unless the limiter refuses.
    work.catch(() => undefined);
    const current = await this.#admit(request, work);
    return haveSameAuthority(current, principal) ? work : this.#dispatch(request, current);
  }

  /** A write continues if the client disconnects, and then invalidates the keys it changed. */
  async #limitFirst(request: AuthenticatedRequest<P>): Promise<Response> {
    const work = this.#dispatch(request, await this.#admit(request));
    if (!request.isRead) request.call.execution.waitUntil(work.catch(() => undefined));
    return work;
  }

  /** Has the limiter admit the request, and returns the principal as it is now. */
  async #admit(request: AuthenticatedRequest<P>, parallelWork?: Promise<unknown>): Promise<P> {
    const { call, key, policy, principal } = request;
    const { env } = call;
    const { organizationId, version } = principal;
    const limited = { key: key.secretHash, organizationId, policy, version };
    const result = await this.#limiter.consume(env.RATE_LIMITER, limited, parallelWork);
    this.#enforce(request, result);
    const isCurrent = result.version !== undefined && result.version <= version;
    const current = isCurrent ? principal : await this.#principals.refresh(env.DB, key);
    if (!current) throw this.#forget(call);
    this.#noteUse(call, current);
    return current;
  }

  #enforce({ call }: AuthenticatedRequest<P>, result: RateLimitResult): void {
    Object.assign(call.trace.headers, rateLimitHeaders(result));
    if (!result.admitted) throw new RateLimited(Math.max(1, resetSeconds(result)));
  }

  async #dispatch(request: AuthenticatedRequest<P>, principal: P): Promise<Response> {
    const { call, isRead, isRoute } = request;
    if (!isRoute) refuseRoute(this.#operations, call);
    const { env, execution, trace } = call;
    const session = isRead
      ? openForReading(env.DB, call.request.headers.get("x-d1-bookmark") ?? undefined)
      : openForWriting(env.DB);
    try {
      const bound = this.#plane.bind(this.#coreOf(env, session.db, execution), principal, env);
      return await this.#plane.api.fetch(call.request, bound, execution);
    } finally {
      const bookmark = session.bookmark();
      if (bookmark && trace.keyId) trace.headers["x-d1-bookmark"] = bookmark;
    }
  }

  #coreOf(env: Env, db: Database, execution: ExecutionContext): CoreContext {
    return {
      ...this.#createContext(db, env, execution),
      invalidateKeys: (keys) => this.#limiter.invalidateKeys(env.RATE_LIMITER, keys),
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
