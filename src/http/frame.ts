import type { Context, MiddlewareHandler } from "hono";
import { ApiError } from "../lib/errors.ts";
import { describeError, type Log } from "../lib/log.ts";
import { toApiError } from "./errors.ts";

/** What is learnt of a request on its way, for its log line and for the head of its answer. */
export interface Trace {
  readonly requestId: string;
  /** The pattern of the route, never the path itself. */
  route?: string;
  keyId?: string;
  organizationId?: string;
  readonly headers: Record<string, string>;
}

export interface Framed {
  Bindings: Env;
  Variables: { trace: Trace };
}

/** Around every request: its ID, its errors from whatever layer, its headers, and its log line. */
export function frame(log: Log): MiddlewareHandler<Framed> {
  return async (c, next) => {
    const start = performance.now();
    const trace: Trace = { requestId: crypto.randomUUID(), headers: {} };
    c.set("trace", trace);
    try {
      await next();
    } catch (thrown) {
      c.res = renderError(c, thrown, log);
    }
    finish(c);
    log("info", "request", {
      request_id: trace.requestId,
      method: c.req.method,
      route: trace.route,
      status: c.res.status,
      duration_ms: Math.round(performance.now() - start),
      key_id: trace.keyId,
      organization_id: trace.organizationId,
    });
  };
}

/** One of the ten codes with its status. An unforeseen error shows nothing but the request's ID. */
export function renderError(c: Context<Framed>, thrown: unknown, log: Log): Response {
  const { requestId } = c.get("trace");
  const known = toApiError(thrown);
  if (!known) log("error", "unforeseen", { request_id: requestId, ...describeError(thrown) });
  const error =
    known ?? new ApiError("internal", "Something failed on our side. A retry may succeed.");
  const { code, message, status, headers } = error;
  const cause = code === "internal" ? { request_id: requestId, ...causeOf(error) } : error.cause;
  return Response.json(
    { code, message, ...(cause !== undefined && { cause }) },
    { status, headers },
  );
}

function causeOf({ cause }: ApiError): object {
  return typeof cause === "object" && cause !== null ? cause : {};
}

function finish(c: Context<Framed>): void {
  const trace = c.get("trace");
  const { headers } = c.res;
  headers.set("x-request-id", trace.requestId);
  headers.set("x-content-type-options", "nosniff");
  // Shared caches keep answers to requests with keys apart only if they are told to.
  if (!headers.has("cache-control")) headers.set("cache-control", "private, no-store");
  for (const [name, value] of Object.entries(trace.headers)) headers.set(name, value);
}
