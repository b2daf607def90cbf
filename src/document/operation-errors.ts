import { type RouteConfig, z } from "@hono/zod-openapi";
import { notFullIn } from "../features/housekeeping/audit/index.ts";
import { AccessDenied } from "../features/projects/access/model.ts";
import { credentialsOf, type Declared } from "../http/declared.ts";
import { DELETED_MEANWHILE, toIssues, UNFORESEEN } from "../http/errors.ts";
import { UNKNOWN_PARAMETER } from "../http/query-parameters.ts";
import { NO_BODY, NOT_PLAIN_TEXT, tooLarge } from "../http/read-body.ts";
import {
  ApiError,
  BadInput,
  DatabaseTimeout,
  ERRORS,
  type ErrorStatus,
  Forbidden,
  NotFound,
  RateLimited,
  Unauthenticated,
  Unauthorized,
} from "../lib/errors.ts";
import { EXAMPLE_REQUEST_ID } from "../lib/example-ids.ts";
import {
  CROSS_ORIGIN,
  INVALID_BOOKMARK,
  SEND_API_KEY,
  SEND_BOOTSTRAP_TOKEN,
  SEND_RUNNER_TOKEN,
  SIGN_IN_AGAIN,
} from "../lib/header-errors.ts";
import { LIMITS } from "../lib/limits.ts";
import { PROTECTED_PARTS, type ProtectedPart } from "../lib/protected-parts.ts";
import type { ProjectRole } from "../lib/roles.ts";
import { CODES, ErrorBody } from "./error-body.ts";
import { headerErrors } from "./operation-headers.ts";

/** @param errors Named examples, all with the same status. */
function errorReply(errors: Readonly<Record<string, ApiError>>) {
  const codes = CODES.filter((code) => Object.values(errors).some((error) => error.code === code));
  const examples = Object.entries(errors).map(([name, { code, message, cause }]) => {
    return [name, { value: { code, message, ...(cause !== undefined && { cause }) } }] as const;
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join(" "),
    content: {
      "application/json": { schema: ErrorBody, examples: Object.fromEntries(examples) },
    },
  };
}

type NamedErrors = Readonly<Record<string, ApiError>>;

/** By the credential that is missing. */
const UNAUTHENTICATED: Record<string, Unauthenticated> = {
  api_key: new Unauthenticated(SEND_API_KEY),
  session: new Unauthenticated(SIGN_IN_AGAIN),
  runner_token: new Unauthenticated(SEND_RUNNER_TOKEN),
  bootstrap_token: new Unauthenticated(SEND_BOOTSTRAP_TOKEN),
};

const INTERNAL = new ApiError("internal", UNFORESEEN, {
  cause: { request_id: EXAMPLE_REQUEST_ID },
});

const BODY = {
  missing_body: NO_BODY,
  unknown_field: badInput("colour", "Unknown field; remove it."),
};
const TEXT_BODY = {
  content_type: NOT_PLAIN_TEXT,
  large_body: badInput("", tooLarge(LIMITS.logChunkBytes.value)),
};
const LARGE_BODY = { large_body: badInput("", tooLarge(LIMITS.bodyBytes.value)) };
const BOOKMARK = { bookmark: INVALID_BOOKMARK };

/** Refused wherever the format of a parameter is checked. */
const INVALID = "\0";

/** The route with a reply for each error that it may return. */
export function withErrorReplies(route: RouteConfig, operation: Declared): RouteConfig {
  const byStatus = new Map<ErrorStatus, Record<string, ApiError>>();
  for (const [name, error] of Object.entries(errorsOf(route, operation))) {
    byStatus.set(error.status, { ...byStatus.get(error.status), [name]: error });
  }
  const replies = [...byStatus].map(([status, errors]) => [status, errorReply(errors)]);
  return { ...route, responses: { ...route.responses, ...Object.fromEntries(replies) } };
}

function errorsOf(route: RouteConfig, operation: Declared): NamedErrors {
  const { method, access, writes = false, changes = [], notFound = [], errors } = operation;
  const { role = undefined, scope = null } = typeof access === "object" ? access : {};
  const credentials = credentialsOf(access);
  const sendsBody = ["post", "put", "patch"].includes(method);
  const hasKey = credentials.includes("session") || credentials.includes("runner_token");
  const mayWrite = sendsBody || method === "delete" || writes;
  return {
    ...parameterErrors(route),
    ...(hasKey && method === "get" && { unknown_parameter: UNKNOWN_PARAMETER }),
    ...(sendsBody && bodyErrors(route)),
    ...(hasKey && !mayWrite && BOOKMARK),
    ...Object.fromEntries(credentials.map((name) => [name, UNAUTHENTICATED[name] ?? INTERNAL])),
    ...(role && { [`needs_${role}`]: roleError(role) }),
    ...(scope && { [`lacks_${scope.replace(":", "_")}`]: Unauthorized.scope(scope) }),
    ...Object.fromEntries(changes.flatMap(protectionError)),
    ...Object.fromEntries(notFound.map((what) => [nameOf(what), new NotFound(what)])),
    ...((credentials.length > 0 || writes) && { timeout: new DatabaseTimeout() }),
    ...(hasKey && mayWrite && { deleted_meanwhile: DELETED_MEANWHILE }),
    ...(credentials.includes("session") && mayWrite && { cross_origin: CROSS_ORIGIN }),
    ...headerErrors(operation),
    rate_limited: new RateLimited(12),
    internal: INTERNAL,
    ...errors,
  };
}

function bodyErrors({ request }: RouteConfig): NamedErrors {
  if (!request?.body) return LARGE_BODY;
  return "text/plain" in request.body.content ? TEXT_BODY : BODY;
}

/** What the schemas of the parameters say about invalid ones: the first in the path, and `limit`. */
function parameterErrors({ request }: RouteConfig): NamedErrors {
  const issues = [request?.params, request?.query].flatMap((schema) => {
    if (!(schema instanceof z.ZodObject)) return [];
    const invalid = Object.keys(schema.shape).map((name) => [name, INVALID]);
    const { error } = schema.safeParse(Object.fromEntries(invalid));
    const [first] = (error ? toIssues(error) : []).filter(({ path }) => path !== "after");
    return first ? [first] : [];
  });
  return Object.fromEntries(
    issues.map(({ path, message }) => [`invalid_${path}`, badInput(path, message)]),
  );
}

function roleError(role: ProjectRole | "admin"): ApiError {
  return role === "admin" ? Unauthorized.role(role) : new Forbidden(role);
}

/** None for what needs the same everywhere: the operation itself has it. */
function protectionError(part: ProtectedPart): [string, ApiError][] {
  const { needs, ...rest } = PROTECTED_PARTS[part];
  if (!("reach" in rest)) return [];
  if (needs === "full") return [["environment_protected", notFullIn("production")]];
  const who = "owners of the project and admins of the organization";
  return [[`may_not_${needs}`, new AccessDenied(who, needs)]];
}

function badInput(path: string, message: string): BadInput {
  return new BadInput([{ path, message }]);
}

/** `no_api_key` for `API key`. */
function nameOf(what: string): string {
  return `no_${what.toLowerCase().replaceAll(/\W+/g, "_")}`;
}
