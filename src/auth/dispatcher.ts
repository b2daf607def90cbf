import type { ChangedKey, CoreContext, SystemContext } from "../context.ts";
import { type Database, openForReading, openForWriting } from "../db/client.ts";
import type { Charge } from "../db/metered-session.ts";
import { originOf, type RequestContext } from "../http/request-pipeline.ts";
import type { IndexedRoute, MatchedRoute, RouteIndex } from "../http/route-index.ts";
import type { CallRoute } from "../http/router.ts";
import { type Clock, stoppedClock } from "../lib/clock.ts";
import { RateLimited, Unauthenticated } from "../lib/errors.ts";
import { LIMITS } from "../lib/limits.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { Scope } from "../lib/scopes.ts";
import {
  type ClientAddressLimiter,
  ConcurrentRequests,
  type DatabasePace,
  type LimitedRequest,
  Limiter,
  type PolicyName,
  type RateLimitResult,
  refusalByBudget,
  resetSeconds,
  setRateLimitHeaders,
  type Turn,
} from "../rate-limits/index.ts";
import { type Authenticated, Authenticator, type CredentialReader } from "./authenticator.ts";
import { CredentialCache, type CredentialStore, type Principal } from "./credential-cache.ts";
import type { PresentedKey } from "./credentials.ts";

export interface AuthScheme<P extends Principal, Bound extends CoreContext>
  extends CredentialReader {
  /** How the credential calls a route. Undefined: it does not open the route. */
  callOf(route: IndexedRoute): CallRoute<Bound> | undefined;
  policyOf(route: IndexedRoute | undefined): PolicyName;
  credentialStore: CredentialStore<P>;
  unauthenticatedMessage: string;
  /** Throws `Unauthorized` if the credential is narrowed and lacks the scope. */
  requireScope(principal: P, scope: Scope): void;
  /** May return `core` itself, with more properties. */
  bind(core: CoreContext, principal: P, deps: BindDeps<P>): Bound;
}

export interface BindDeps<P extends Principal> {
  env: Env;
  /** Reads the principal again; undefined if its key is no longer valid. */
  refresh(): Promise<P | undefined>;
  /**
   * For an operation that is `exemptFromBudget` only for some bodies. Waits as other operations do.
   * @throws RateLimited if the organization has used its budget of database work.
   */
  requireBudget(): Promise<void>;
}

export interface DispatcherDeps {
  routes: RouteIndex;
  addressLimiter: ClientAddressLimiter;
  pace: DatabasePace;
  clock: Clock;
  log: Log;
  createContext(db: Database, env: Env, execution: ExecutionContext): SystemContext;
}

/** Which window of which object limits a request. */
type LimitedWindow = Pick<LimitedRequest, "key" | "policy" | "sessionId" | "exemptFromBudget">;

interface AuthenticatedRequest<P extends Principal> extends Authenticated<P> {
  context: RequestContext;
  window: LimitedWindow;
  isRead: boolean;
  matched: MatchedRoute | undefined;
  turn: Turn;
  /** Absent for a read in parallel. */
  admission?: RateLimitResult;
}

interface Admitted<P> {
  /** The current one of the key. */
  principal: P;
  admission: RateLimitResult;
}

/**
 * Authenticates requests, applies the rate limits, and calls the route. A read asks the limiter in
 * parallel with its work. A write asks first, and so does a read while its key has many requests in
 * progress. Work done for an older version of the key is discarded and repeated.
 */
export class Dispatcher<P extends Principal, Bound extends CoreContext> {
  readonly #scheme: AuthScheme<P, Bound>;
  readonly #routes: RouteIndex;
  readonly #log: Log;
  readonly #createContext: DispatcherDeps["createContext"];
  readonly #credentials: CredentialCache<P>;
  readonly #limiter: Limiter;
  readonly #pace: DatabasePace;
  readonly #authenticator: Authenticator<P>;
  readonly #concurrentRequests = new ConcurrentRequests();

  constructor(scheme: AuthScheme<P, Bound>, deps: DispatcherDeps) {
    const { routes, addressLimiter, pace, clock, log, createContext } = deps;
    this.#scheme = scheme;
    this.#routes = routes;
    this.#log = log;
    this.#createContext = createContext;
    this.#credentials = new CredentialCache(scheme.credentialStore, clock);
    this.#limiter = new Limiter(clock, log);
    this.#pace = pace;
    const limits = { addressLimiter, limiter: this.#limiter };
    this.#authenticator = new Authenticator(scheme, this.#credentials, limits);
  }

  async handle(context: RequestContext, matched: MatchedRoute | undefined): Promise<Response> {
    const { request, requestLog } = context;
    const route = matched?.route;
    const authenticated = await this.#authenticator.authenticate(context);
    if (!authenticated) throw new Unauthenticated(this.#scheme.unauthenticatedMessage);
    const { key, principal } = authenticated;
    requestLog.keyId = principal.keyId;
    requestLog.organizationId = principal.organizationId;
    if (principal.session) requestLog.sessionId = principal.session.id;
    const isRead = (request.method === "GET" || request.method === "HEAD") && !route?.writes;
    const policy = this.#scheme.policyOf(route);
    const { limitsOrganizationId: organizationId, consumerId } = principal;
    const turn = this.#pace.turnOf({ organizationId, consumerId, policy }, route);
    const exemptFromBudget = route?.exemptFromBudget === true && turn.mayExceedBudget();
    const window = { ...windowOf(authenticated, policy), exemptFromBudget };
    const limited = { context, key, principal, window, isRead, matched, turn };
    const work = this.#inTurn(limited);
    // Continues if the client disconnects: its cost is charged, and the keys that a write changes are invalidated.
    context.execution.waitUntil(work.catch(() => undefined));
    try {
      return await work;
    } catch (error) {
      throw error instanceof Unauthenticated ? this.#revokedKeyError(context) : error;
    }
  }

  /** Waits for its turn first, so that a request that waits or is refused for that uses no window. */
  async #inTurn(request: AuthenticatedRequest<P>): Promise<Response> {
    const { isRead, turn, window } = request;
    const others = this.#concurrentRequests.begin(window.key);
    try {
      this.#refuseAsCached(request);
      const started = window.exemptFromBudget ? undefined : this.#takeTurn(request);
      if (started) await started;
      const isParallel = isRead && others < LIMITS.concurrentReads.value;
      return await (isParallel ? this.#readInParallel(request) : this.#limitFirst(request));
    } finally {
      turn.end();
      this.#concurrentRequests.end(window.key);
    }
  }

  #takeTurn(request: AuthenticatedRequest<P>): Promise<void> | undefined {
    return request.turn.take((waitMs) =>
      this.#refusal(request, refusalByBudget(request.window.policy, waitMs)),
    );
  }

  async #readInParallel(request: AuthenticatedRequest<P>): Promise<Response> {
    const { principal } = request;
    this.#refuseAsCached(request);
    const work = this.#dispatch(request, principal);
    try {
      const { principal: current } = await this.#admit(request, work);
      if (hasSameAuthority(current, principal)) return await work;
      discard(work);
      return await this.#dispatch(request, current);
    } catch (error) {
      discard(work);
      throw error;
    }
  }

  async #limitFirst(request: AuthenticatedRequest<P>): Promise<Response> {
    const { principal, admission } = await this.#admit(request);
    return await this.#dispatch({ ...request, admission }, principal);
  }

  async #admit(
    request: AuthenticatedRequest<P>,
    parallelWork?: Promise<unknown>,
  ): Promise<Admitted<P>> {
    const { context, key, window, principal } = request;
    const { env } = context;
    const { limitsOrganizationId: organizationId, consumerId, version } = principal;
    const limited = { ...window, id: context.requestId, organizationId, consumerId, version };
    const result = await this.#limiter.consume(env.RATE_LIMITER, limited, parallelWork);
    this.#enforce(request, result);
    const isCurrent = result.version !== undefined && result.version <= version;
    const current = isCurrent ? principal : await this.#credentials.refresh(env.DB, key);
    if (!current || this.#isBehind(current, result)) {
      throw new Unauthenticated(this.#scheme.unauthenticatedMessage);
    }
    this.#saveUse(context, key, current);
    return { principal: current, admission: result };
  }

  /**
   * A change of a key is committed before its object learns the version, and `current` is read from
   * the primary after the object was asked. A lower version is therefore that of a restored database.
   */
  #isBehind({ keyId, version }: P, { version: newest = 0 }: RateLimitResult): boolean {
    if (version >= newest) return false;
    const hint =
      "The database was restored to a time before a change of this key. If it may have access " +
      "again, admit it: see docs/operations.md.";
    this.#log("error", "key.version_behind", { key_id: keyId, version, newest, hint });
    return true;
  }

  #enforce(request: AuthenticatedRequest<P>, result: RateLimitResult): void {
    if (!result.admitted) throw this.#refusal(request, result);
    setRateLimitHeaders(request.context.responseHeaders, result);
  }

  #refusal({ context }: AuthenticatedRequest<P>, result: RateLimitResult): RateLimited {
    setRateLimitHeaders(context.responseHeaders, result);
    return new RateLimited(Math.max(1, resetSeconds(result)));
  }

  #refuseAsCached(request: AuthenticatedRequest<P>): void {
    const refusal = this.#limiter.cachedRefusal(request.window);
    if (refusal) this.#enforce(request, refusal);
  }

  async #requireBudget(request: AuthenticatedRequest<P>): Promise<void> {
    const { admission: { overBudgetMs } = { overBudgetMs: 0 }, window } = request;
    if (overBudgetMs > 0) this.#enforce(request, refusalByBudget(window.policy, overBudgetMs));
    await this.#takeTurn(request);
  }

  async #dispatch(request: AuthenticatedRequest<P>, principal: P): Promise<Response> {
    const { context, isRead, matched } = request;
    const { env, execution, requestLog, responseHeaders } = context;
    const call = matched && this.#scheme.callOf(matched.route);
    if (!call) throw this.#routes.noRouteError(context.request.method, context.path);
    const { scope } = matched.route;
    if (scope) this.#scheme.requireScope(principal, scope);
    const charge = this.#chargeOf(request, principal);
    const bookmark = context.request.headers.get("x-d1-bookmark") ?? undefined;
    const session = isRead
      ? openForReading(env.DB, { bookmark, charge })
      : openForWriting(env.DB, charge);
    try {
      const core = this.#createCoreContext(context, session.db);
      const refresh = () => this.#refresh(request, principal);
      const requireBudget = () => this.#requireBudget(request);
      const bound = this.#scheme.bind(core, principal, { env, refresh, requireBudget });
      return await call(context.request, bound, execution, matched);
    } finally {
      const bookmark = session.bookmark();
      if (bookmark && requestLog.keyId) responseHeaders["x-d1-bookmark"] = bookmark;
    }
  }

  #chargeOf({ context, window, turn }: AuthenticatedRequest<P>, principal: P): Charge {
    const { env, execution } = context;
    const { limitsOrganizationId: organizationId, consumerId } = principal;
    const payer = { ...window, organizationId, consumerId };
    const waitUntil = (promise: Promise<unknown>) => execution.waitUntil(promise);
    return (units, rowsWritten) => {
      turn.charge(units, rowsWritten);
      this.#limiter.costs.charge(env.RATE_LIMITER, payer, units, waitUntil);
    };
  }

  /** `known` itself if the key is valid and has not changed. Undefined if the key is no longer valid. */
  async #refresh(
    { context, key, window }: AuthenticatedRequest<P>,
    known: P,
  ): Promise<P | undefined> {
    const { DB, RATE_LIMITER } = context.env;
    const newest = await this.#limiter.versionOf(RATE_LIMITER, window.key);
    const isCurrent = newest !== undefined && newest <= known.version;
    const current = await (isCurrent
      ? this.#credentials.find(DB, key)
      : this.#credentials.refresh(DB, key));
    if (!current || current.version < (newest ?? 0)) return undefined;
    return hasSameAuthority(current, known) ? known : current;
  }

  #createCoreContext(context: RequestContext, db: Database): CoreContext {
    const { env, execution } = context;
    const system = this.#createContext(db, env, execution);
    const { clock: movingClock } = system;
    // Not a copy: the context belongs to this request alone.
    return Object.assign(system, {
      origin: originOf(context),
      clock: stoppedClock(movingClock),
      movingClock,
      invalidateKeys: (keys: readonly ChangedKey[]) =>
        this.#limiter.invalidateKeys(env.RATE_LIMITER, keys),
    });
  }

  /**
   * The response for a revoked key must equal that for a key that never existed, also if a service finds
   * out that its membership is gone.
   */
  #revokedKeyError({ requestLog, responseHeaders }: RequestContext): Unauthenticated {
    delete requestLog.keyId;
    delete requestLog.sessionId;
    delete requestLog.organizationId;
    for (const name of Object.keys(responseHeaders)) delete responseHeaders[name];
    return new Unauthenticated(this.#scheme.unauthenticatedMessage);
  }

  #saveUse({ env, execution }: RequestContext, key: PresentedKey, principal: P): void {
    const saved = this.#credentials.saveUse(env.DB, principal);
    if (!saved) return;
    const logged = saved.catch((error: unknown) => {
      this.#log("error", "api_key.use_not_recorded", describeError(error));
    });
    execution.waitUntil(logged);
    if (!principal.session) return;
    // The object of the key counts its requests, so that of the session does not know it otherwise.
    const known = { secretHash: key.secretHash, version: 0 };
    execution.waitUntil(this.#limiter.invalidateKeys(env.RATE_LIMITER, [known]));
  }
}

/** A session has a window of its own, but reads no more values of variables than its key. */
function windowOf(
  { key, principal }: Authenticated<Principal>,
  policy: PolicyName,
): Omit<LimitedWindow, "exemptFromBudget"> {
  const { session } = principal;
  if (!session) return { key: key.secretHash, policy };
  const sessionId = policy === "console" ? session.id : undefined;
  return { key: session.keySecretHash, policy, sessionId };
}

/** Lets a stream end, so that it holds nothing. */
function discard(work: Promise<Response>): void {
  work.then((response) => response.body?.cancel()).catch(() => undefined);
}

function hasSameAuthority(
  a: Principal & { role?: string },
  b: Principal & { role?: string },
): boolean {
  return a.version === b.version && a.role === b.role;
}
