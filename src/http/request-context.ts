import type { Context, MiddlewareHandler, Next } from "hono";
import { getPath } from "hono/utils/url";
import type { OpenContext, RequestOrigin, ServiceContext } from "../context.ts";
import type { Clock } from "../lib/clock.ts";
import { LIMITS } from "../lib/limits.ts";
import type { Log } from "../lib/log.ts";
import type { Declared } from "./declared.ts";

export interface RequestLog {
  /** The route's pattern. The path itself contains IDs, which are not logged. */
  route?: string;
  /** The key of the request. For a session, the key that it came from. */
  keyId?: string;
  sessionId?: string;
  organizationId?: string;
}

/** Authenticates the requests with one kind of credential, and applies their limits. */
export interface CredentialAdmission {
  /** What `admit` takes. */
  authenticate(context: RequestContext, declared: Declared | undefined): Promise<unknown>;
  admit(c: FeatureContext, visit: unknown, next: Next): Promise<void>;
}

/** What the app gives the middleware, which imports no feature. */
export interface MiddlewareDeps {
  clock: Clock;
  log: Log;
  /** @throws RateLimited if the client address is over its limit. */
  limitAddress(context: RequestContext): Promise<void>;
  /** @param declared The operation. Undefined: the request has no route. */
  admissionOf(
    context: RequestContext,
    declared: Declared | undefined,
  ): Promise<CredentialAdmission>;
  openToAll(context: RequestContext): OpenContext;
  /** Reads a path as the caller of the context would, who is authenticated and admitted. */
  read(context: RequestContext, path: string, reader: ServiceContext): Promise<Response>;
  requireBootstrapToken(context: RequestContext): Promise<void>;
  /** Does the work of a request with an `Idempotency-Key` once. */
  safeWrites: FeatureMiddleware;
}

/** What the middleware knows of a request. Handlers see `c.var.ctx` instead. */
export interface RequestContext {
  readonly requestId: string;
  readonly request: Request;
  readonly env: Env;
  readonly execution: ExecutionContext;
  /** Decoded in the same way as Hono's routers decode it. */
  readonly path: string;
  readonly requestLog: RequestLog;
  /** Set on the response, including on error responses. */
  readonly responseHeaders: Record<string, string>;
  readonly deps: MiddlewareDeps;
  /** The caller whose repeated request reads what its response shows: authenticated and admitted before. */
  readonly reader?: ServiceContext;
}

/** Does the work of a request: once for each `Idempotency-Key`, and a read in parallel with the limiter. */
export type Run<Ctx> = <Result>(work: (ctx: Ctx) => Promise<Result>) => Promise<Result>;

/** What a handler sees. No binding of the Worker: data is reached through `c.var.ctx` only. */
export interface FeatureEnv<Ctx> {
  // biome-ignore lint/complexity/noBannedTypes: no binding
  Bindings: {};
  Variables: { ctx: Ctx; operation: Declared; run: Run<Ctx> };
}

// biome-ignore lint/suspicious/noExplicitAny: middleware serves the features of all credentials
export type FeatureContext = Context<FeatureEnv<any>>;
// biome-ignore lint/suspicious/noExplicitAny: see FeatureContext
export type FeatureMiddleware = MiddlewareHandler<FeatureEnv<any>>;

/** The environment of the app, and behind the types that of each feature's. */
export interface AppEnv {
  Bindings: { context: RequestContext };
}

export function contextOf(c: Context): RequestContext {
  return (c.env as AppEnv["Bindings"]).context;
}

export function createRequestContext(
  request: Request,
  env: Env,
  execution: ExecutionContext,
  deps: MiddlewareDeps,
): RequestContext {
  return {
    requestId: crypto.randomUUID(),
    path: getPath(request),
    ...{ request, env, execution, deps },
    requestLog: {},
    responseHeaders: {},
  };
}

/** Reads the headers only if they are used, which most requests do without. */
class HeaderOrigin implements RequestOrigin {
  readonly requestId: string;
  readonly #headers: Headers;

  constructor({ requestId, request }: RequestContext) {
    this.requestId = requestId;
    this.#headers = request.headers;
  }

  get clientAddress(): string | null {
    return this.#headers.get("cf-connecting-ip");
  }

  get userAgent(): string | null {
    return this.#headers.get("user-agent")?.slice(0, LIMITS.userAgentLength.value) ?? null;
  }
}

export function originOf(context: RequestContext): RequestOrigin {
  return new HeaderOrigin(context);
}
