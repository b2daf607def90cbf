import type { Scope } from "./scopes.ts";

/** Source: docs/api.md, "Errors". The error responses in the OpenAPI document come from this table. */
export const ERRORS = {
  bad_input: { status: 400, meaning: "Invalid input." },
  unauthenticated: { status: 401, meaning: "Authentication is required." },
  forbidden: { status: 403, meaning: "The requester lacks permission for the action." },
  unauthorized: {
    status: 403,
    meaning: "The credential lacks a required scope, or a required role in the organization.",
  },
  not_found: { status: 404, meaning: "The requested resource does not exist." },
  timeout: { status: 408, meaning: "A timeout elsewhere in the system; a retry may succeed." },
  conflict: { status: 409, meaning: "The request conflicts with the current state." },
  rate: { status: 429, meaning: "The rate limit is exceeded; retry after a delay." },
  internal: { status: 500, meaning: "Internal failure; a retry may succeed." },
  not_implemented: { status: 501, meaning: "The endpoint reached is not implemented." },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;
export type ErrorStatus = (typeof ERRORS)[ErrorCode]["status"];

/** `path` is separated by dots: `stack_ids.0`. */
export interface Issue {
  path: string;
  message: string;
}

/** Sent to the caller. All other errors become `internal`. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.headers = options.headers ?? {};
  }

  get status(): ErrorStatus {
    return ERRORS[this.code].status;
  }
}

/** These bound the size of the response, because the input can be 1 MiB. */
export const MAXIMUM_ISSUES = 20;
const MAXIMUM_PATH_CHARACTERS = 200;

export class BadInput extends ApiError {
  constructor(found: readonly Issue[]) {
    const issues = found
      .slice(0, MAXIMUM_ISSUES)
      .map(({ path, message }) => ({ path: path.slice(0, MAXIMUM_PATH_CHARACTERS), message }));
    const [first] = issues;
    const summary = first
      ? [first.path, first.message].filter(Boolean).join(": ")
      : "Invalid input.";
    super("bad_input", summary, { cause: { issues } });
  }
}

/** The message states what to send. It does not state why the credential was rejected. */
export class Unauthenticated extends ApiError {
  constructor(message: string) {
    super("unauthenticated", message);
  }
}

/** The role in the organization is too low, or this type of credential is never permitted. */
export class Unauthorized extends ApiError {
  constructor(message: string) {
    super("unauthorized", message);
  }

  static role(needed: string): Unauthorized {
    return new Unauthorized(`This needs the role ${needed} in the organization.`);
  }

  static scope(needed: Scope): Unauthorized {
    return new Unauthorized(`This key lacks the scope ${needed}.`);
  }
}

export class Forbidden extends ApiError {
  constructor(needed: string) {
    super(
      "forbidden",
      `This needs the role ${needed} in the project, or admin in the organization.`,
    );
  }
}

/**
 * The message does not contain the ID, so that the response for a resource of another organization is
 * identical to the response for a resource that does not exist.
 */
export class NotFound extends ApiError {
  constructor(what: string) {
    super("not_found", `There is no such ${what}.`);
  }
}

export class Conflict extends ApiError {
  constructor(message: string, options?: { cause: unknown }) {
    super("conflict", message, options);
  }
}

/** The resource does not have a version that `If-Match` lists. */
export class EtagMismatch extends Conflict {
  /** @param etag The current tag of the resource. */
  constructor(etag: string) {
    super("The record has changed. Read it again, and send its new ETag in If-Match.", {
      cause: { etag },
    });
  }
}

export class LimitReached extends Conflict {
  constructor(allowed: number, what: string) {
    super(`The limit of ${allowed} ${what} is reached. Delete some first, or send less.`);
  }
}

export class RateLimited extends ApiError {
  constructor(retryAfterSeconds: number, reason = "Too many requests.") {
    super("rate", `${reason} Retry in ${retryAfterSeconds} s.`, {
      headers: { "retry-after": String(retryAfterSeconds) },
    });
  }
}

export class MethodNotImplemented extends ApiError {
  constructor(method: string, allowed: readonly string[]) {
    const allow = allowed.join(", ");
    super("not_implemented", `${method} is not implemented here; use ${allow}.`, {
      headers: { allow },
    });
  }
}

export class NotConfigured extends ApiError {
  constructor(part: string, missing: readonly string[]) {
    const settings = missing.join(" and ");
    super(
      "not_implemented",
      `This deployment has no ${part}. Its operator has to set ${settings}.`,
    );
  }
}

export class DatabaseTimeout extends ApiError {
  constructor() {
    super("timeout", "The database took too long. Retry in a moment.");
  }
}
