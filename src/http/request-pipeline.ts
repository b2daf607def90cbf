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

/** One request to the service. */
export interface Call {
  readonly request: Request;
  readonly env: Env;
  readonly execution: ExecutionContext;
  /** The path as routers read it. */
  readonly path: string;
  readonly trace: Trace;
}

/** Around every request: its errors from whatever layer, its headers, and its log line. */
export async function frame(
  call: Call,
  log: Log,
  handle: (call: Call) => Promise<Response>,
): Promise<Response> {
  const start = performance.now();
  const { requestId } = call.trace;
  const response = await handle(call).catch((thrown) => renderError(thrown, requestId, log));
  finish(response.headers, call.trace);
  log("info", "request", {
    request_id: requestId,
    method: call.request.method,
    route: call.trace.route,
    status: response.status,
    duration_ms: Math.round(performance.now() - start),
    key_id: call.trace.keyId,
    organization_id: call.trace.organizationId,
  });
  return response;
}

/** One of the ten codes with its status. An unforeseen error shows nothing but the request's ID. */
function renderError(thrown: unknown, requestId: string, log: Log): Response {
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

function finish(headers: Headers, trace: Trace): void {
  headers.set("x-request-id", trace.requestId);
  headers.set("x-content-type-options", "nosniff");
  // Shared caches keep answers to requests with keys apart only if they are told to.
  if (!headers.has("cache-control")) headers.set("cache-control", "private, no-store");
  for (const name in trace.headers) headers.set(name, String(trace.headers[name]));
}
