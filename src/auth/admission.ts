import type { ChangedKey, CoreContext, CreateSystemContext, SystemContext } from "../context.ts";
import { openForReading, openForWriting } from "../db/client.ts";
import type { Charge } from "../db/metered-session.ts";
import type { Access, Declared } from "../http/declared.ts";
import { type FeatureContext, originOf, type RequestContext } from "../http/request-context.ts";
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

/** A kind of credential. */
export interface AuthScheme<P extends Principal, Bound extends CoreContext>
  extends CredentialReader {
  policyOf(declared: Pick<Declared, "policy"> | undefined): PolicyName;
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

export interface AdmissionDeps {
  addressLimiter: ClientAddressLimiter;
  pace: DatabasePace;
  clock: Clock;
  log: Log;
  createContext: CreateSystemContext;
}

/** Which window of which object limits a request. */
type LimitedWindow = Pick<LimitedRequest, "key" | "policy" | "sessionId" | "exemptFromBudget">;

/** An authenticated request. */
interface Visit<P extends Principal> extends Authenticated<P> {
  context: RequestContext;
  declared: Declared | undefined;
  window: LimitedWindow;
  isRead: boolean;
  turn: Turn;
  /** Absent for a read in parallel. */
  admission?: RateLimitResult;
}

/** The context of the work, with a session of the database of its own. */
interface Open<Bound> {
  ctx: Bound;
  /** Tells the caller what the session has reached. */
  end(): void;
}

interface Admitted<P> {
  /** The current one of the key. */
  principal: P;
  admission: RateLimitResult;
}

/**
 * Authenticates the requests with a kind of credential, and applies the rate limits. A read asks the
 * limiter in parallel with its work. A write asks first, and so does a read while its key has many
 * requests in progress. Work done for an older version of the key is discarded and repeated.
 */
export class Admission<P extends Principal, Bound extends CoreContext> {
  readonly #scheme: AuthScheme<P, Bound>;
  readonly #log: Log;
  readonly #createContext: CreateSystemContext;
  readonly #credentials: CredentialCache<P>;
  readonly #limiter: Limiter;
  readonly #pace: DatabasePace;
  readonly #authenticator: Authenticator<P>;
  readonly #concurrentRequests = new ConcurrentRequests();

  constructor(scheme: AuthScheme<P, Bound>, deps: AdmissionDeps) {
    const { addressLimiter, pace, clock, log, createContext } = deps;
    this.#scheme = scheme;
    this.#log = log;
    this.#createContext = createContext;
    this.#credentials = new CredentialCache(scheme.credentialStore, clock);
    this.#limiter = new Limiter(clock, log);
    this.#pace = pace;
    const limits = { addressLimiter, limiter: this.#limiter };
    this.#authenticator = new Authenticator(scheme, this.#credentials, limits);
  }

  /**
   * @param declared The operation. Undefined: the request has no route.
   * @throws Unauthenticated without a valid credential.
   */
  async authenticate(context: RequestContext, declared: Declared | undefined): Promise<Visit<P>> {
    const { request, requestLog } = context;
    const authenticated = await this.#authenticator.authenticate(context);
    if (!authenticated) throw new Unauthenticated(this.#scheme.unauthenticatedMessage);
    const { key, principal } = authenticated;
    requestLog.keyId = principal.keyId;
    requestLog.organizationId = principal.organizationId;
    if (principal.session) requestLog.sessionId = principal.session.id;
    const isRead = (request.method === "GET" || request.method === "HEAD") && !declared?.writes;
    const policy = this.#scheme.policyOf(declared);
    const { limitsOrganizationId: organizationId, consumerId } = principal;
    const turn = this.#pace.turnOf({ organizationId, consumerId, policy }, declared);
    const isExempt = declared?.exemptFromBudget === true || declared?.method === "delete";
    const exemptFromBudget = isExempt && turn.mayExceedBudget();
    const window = { ...windowOf(authenticated, policy), exemptFromBudget };
    return { context, declared, key, principal, window, isRead, turn };
  }

  /** Continues with `next` as the limits admit it, and gives the work of the request its context. */
  async admit(c: FeatureContext, visit: Visit<P>, next: () => Promise<void>): Promise<void> {
    const { context } = visit;
    const work = this.#inTurn(c, visit, next);
    // Continues if the client disconnects: its cost is charged, and the keys that a write changes are invalidated.
    context.execution.waitUntil(work.catch(() => undefined));
    try {
      await work;
    } catch (error) {
      throw error instanceof Unauthenticated ? this.#revokedKeyError(context) : error;
    }
  }

  /** Waits for its turn first, so that a request that waits or is refused for that uses no window. */
  async #inTurn(c: FeatureContext, visit: Visit<P>, next: () => Promise<void>): Promise<void> {
    const { isRead, turn, window } = visit;
    const others = this.#concurrentRequests.begin(window.key);
    try {
      this.#refuseAsCached(visit);
      const started = window.exemptFromBudget ? undefined : this.#takeTurn(visit);
      if (started) await started;
      const isParallel = isRead && others < LIMITS.concurrentReads.value;
      await (isParallel ? this.#readInParallel(c, visit, next) : this.#limitFirst(c, visit, next));
    } finally {
      turn.end();
      this.#concurrentRequests.end(window.key);
    }
  }

  #takeTurn(visit: Visit<P>): Promise<void> | undefined {
    return visit.turn.take((waitMs) =>
      this.#refusal(visit, refusalByBudget(visit.window.policy, waitMs)),
    );
  }

  async #limitFirst(c: FeatureContext, visit: Visit<P>, next: () => Promise<void>): Promise<void> {
    const { principal, admission } = await this.#admit(visit);
    await this.#proceed(c, { ...visit, admission }, principal, next);
  }

  async #proceed(
    c: FeatureContext,
    visit: Visit<P>,
    principal: P,
    next: () => Promise<void>,
  ): Promise<void> {
    this.#requireScope(visit, principal);
    const open = this.#open(visit, principal);
    c.set("ctx", open.ctx);
    c.set("run", (work) => work(open.ctx));
    try {
      await next();
    } finally {
      open.end();
    }
  }

  /** A request that is refused before its work counts, too, and a refusal by the limiter takes precedence. */
  async #readInParallel(
    c: FeatureContext,
    visit: Visit<P>,
    next: () => Promise<void>,
  ): Promise<void> {
    const { principal } = visit;
    this.#refuseAsCached(visit);
    const working = Promise.withResolvers<unknown>();
    const admission = this.#admit(visit, working.promise);
    // The failure of an admission is thrown below, where it is awaited.
    admission.catch(() => undefined);
    const isUnchanged = async () => hasSameAuthority((await admission).principal, principal);
    let open: Open<Bound>;
    try {
      this.#requireScope(visit, principal);
      open = this.#open(visit, principal);
    } catch (error) {
      working.resolve(undefined);
      if (await isUnchanged()) throw error;
      return this.#proceed(c, visit, (await admission).principal, next);
    }
    c.set("ctx", open.ctx);
    c.set("run", async (work) => {
      const first = work(open.ctx);
      first.then(working.resolve, working.resolve);
      try {
        if (await isUnchanged()) return await first;
      } catch (error) {
        discard(first);
        throw error;
      }
      discard(first);
      const { principal: current } = await admission;
      this.#requireScope(visit, current);
      open = this.#open(visit, current);
      c.set("ctx", open.ctx);
      return work(open.ctx);
    });
    try {
      await next();
    } finally {
      working.resolve(undefined);
      await admission;
      open.end();
    }
  }

  async #admit(visit: Visit<P>, parallelWork?: Promise<unknown>): Promise<Admitted<P>> {
    const { context, key, window, principal } = visit;
    const { env } = context;
    const { limitsOrganizationId: organizationId, consumerId, version } = principal;
    const limited = { ...window, id: context.requestId, organizationId, consumerId, version };
    const result = await this.#limiter.consume(env.RATE_LIMITER, limited, parallelWork);
    this.#enforce(visit, result);
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

  #enforce(visit: Visit<P>, result: RateLimitResult): void {
    if (!result.admitted) throw this.#refusal(visit, result);
    setRateLimitHeaders(visit.context.responseHeaders, result);
  }

  #refusal({ context }: Visit<P>, result: RateLimitResult): RateLimited {
    setRateLimitHeaders(context.responseHeaders, result);
    return new RateLimited(Math.max(1, resetSeconds(result)));
  }

  #refuseAsCached(visit: Visit<P>): void {
    const refusal = this.#limiter.cachedRefusal(visit.window);
    if (refusal) this.#enforce(visit, refusal);
  }

  async #requireBudget(visit: Visit<P>): Promise<void> {
    const { admission: { overBudgetMs } = { overBudgetMs: 0 }, window } = visit;
    if (overBudgetMs > 0) this.#enforce(visit, refusalByBudget(window.policy, overBudgetMs));
    await this.#takeTurn(visit);
  }

  #requireScope({ declared }: Visit<P>, principal: P): void {
    const scope = scopeOf(declared?.access);
    if (scope) this.#scheme.requireScope(principal, scope);
  }

  #open(visit: Visit<P>, principal: P): Open<Bound> {
    const { context, isRead } = visit;
    const { env, requestLog, responseHeaders } = context;
    const charge = this.#chargeOf(visit, principal);
    const bookmark = context.request.headers.get("x-d1-bookmark") ?? undefined;
    const session = isRead
      ? openForReading(env.DB, { bookmark, charge })
      : openForWriting(env.DB, charge);
    const refresh = () => this.#refresh(visit, principal);
    const requireBudget = () => this.#requireBudget(visit);
    const core = this.#createCoreContext(context, session.db);
    return {
      ctx: this.#scheme.bind(core, principal, { env, refresh, requireBudget }),
      end: () => {
        const reached = session.bookmark();
        if (reached && requestLog.keyId) responseHeaders["x-d1-bookmark"] = reached;
      },
    };
  }

  #chargeOf({ context, window, turn }: Visit<P>, principal: P): Charge {
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
  async #refresh({ context, key, window }: Visit<P>, known: P): Promise<P | undefined> {
    const { DB, RATE_LIMITER } = context.env;
    const newest = await this.#limiter.versionOf(RATE_LIMITER, window.key);
    const isCurrent = newest !== undefined && newest <= known.version;
    const current = await (isCurrent
      ? this.#credentials.find(DB, key)
      : this.#credentials.refresh(DB, key));
    if (!current || current.version < (newest ?? 0)) return undefined;
    return hasSameAuthority(current, known) ? known : current;
  }

  #createCoreContext(context: RequestContext, db: SystemContext["db"]): CoreContext {
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
function discard(work: Promise<unknown>): void {
  work
    .then((result) => (result instanceof ReadableStream ? result.cancel() : undefined))
    .catch(() => undefined);
}

function scopeOf(access: Access | undefined): Scope | null {
  return typeof access === "object" ? access.scope : null;
}

function hasSameAuthority(
  a: Principal & { role?: string },
  b: Principal & { role?: string },
): boolean {
  return a.version === b.version && a.role === b.role;
}
