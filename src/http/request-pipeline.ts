import { getPath } from "hono/utils/url";
import type { RequestOrigin } from "../context.ts";
import { isAuditLimit, isIdempotencyLimit } from "../db/constraint-errors.ts";
import { HOW_TO_MIGRATE, isSchemaOutdated } from "../db/schema-errors.ts";
import type { Clock } from "../lib/clock.ts";
import { ApiError, RateLimited } from "../lib/errors.ts";
import { LIMITS } from "../lib/limits.ts";
import { describeError, type Log } from "../lib/log.ts";
import { refuseUntilTomorrow } from "../rate-limits/index.ts";
import { toApiError, UNFORESEEN } from "./errors.ts";

export interface RequestLog {
  /** The route's pattern. The path itself contains IDs, which are not logged. */
  route?: string;
  /** Of a session: the key that it came from. */
  keyId?: string;
  sessionId?: string;
  organizationId?: string;
}

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
}

export function createRequestContext(
  request: Request,
  env: Env,
  execution: ExecutionContext,
): RequestContext {
  const requestId = crypto.randomUUID();
  const path = getPath(request);
  return { requestId, request, env, execution, path, requestLog: {}, responseHeaders: {} };
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

const REPEATS_FULL = new RateLimited(
  3_600,
  "The organization has stored as many responses for repeats as it may in 24 hours. Requests without an " +
    "`Idempotency-Key` are carried out.",
);

export async function handleRequest(
  context: RequestContext,
  { clock, log }: { clock: Clock; log: Log },
  handler: (context: RequestContext) => Promise<Response>,
): Promise<Response> {
  const start = performance.now();
  const { requestId, request, requestLog } = context;
  let response: Response;
  try {
    response = await handler(context);
  } catch (error) {
    const { responseHeaders } = context;
    const thrown = isAuditLimit(error) ? refuseUntilTomorrow(responseHeaders, clock) : error;
    response = renderError(isIdempotencyLimit(error) ? REPEATS_FULL : thrown, requestId, log);
  }
  setHeaders(response.headers, context);
  log("info", "request", {
    request_id: requestId,
    method: request.method,
    route: requestLog.route,
    status: response.status,
    duration_ms: Math.round(performance.now() - start),
    key_id: requestLog.keyId,
    session_id: requestLog.sessionId,
    organization_id: requestLog.organizationId,
  });
  return response;
}

/** The response to an unexpected error contains only the request's ID; the log has the details. */
function renderError(thrown: unknown, requestId: string, log: Log): Response {
  const expected = toApiError(thrown);
  if (!expected) {
    const hint = isSchemaOutdated(thrown) && { hint: HOW_TO_MIGRATE };
    log("error", "unforeseen", { request_id: requestId, ...describeError(thrown), ...hint });
  }
  const error = expected ?? new ApiError("internal", UNFORESEEN);
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

/** A year. Without `includeSubDomains`: other hosts of the domain are not this service. */
export const STRICT_TRANSPORT_SECURITY = "max-age=31536000";

function setHeaders(
  headers: Headers,
  { request, requestId, responseHeaders }: RequestContext,
): void {
  headers.set("x-request-id", requestId);
  headers.set("x-content-type-options", "nosniff");
  // Browsers ignore it at `http:` (RFC 6797, section 8.1).
  if (request.url.startsWith("https:")) {
    headers.set("strict-transport-security", STRICT_TRANSPORT_SECURITY);
  }
  // Shared caches may store a response to `x-api-key`, unlike one to `Authorization`.
  if (!headers.has("cache-control")) headers.set("cache-control", "private, no-store");
  for (const name in responseHeaders) headers.set(name, String(responseHeaders[name]));
}
