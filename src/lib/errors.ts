/**
 * The ten codes of the contract, the one status of each, and what it says (spec, "Errors").
 * The union of codes, the statuses and the replies of the OpenAPI document all come from here.
 */
export const ERRORS = {
  bad_input: { status: 400, meaning: "Invalid input." },
  unauthenticated: { status: 401, meaning: "Authentication is required." },
  forbidden: { status: 403, meaning: "The requester lacks permission for the action." },
  unauthorized: {
    status: 403,
    meaning: "The credential does not meet a required role in the organization.",
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

/** One thing wrong with the input: where it is, in dots (`stack_ids.0`), and what to change. */
export interface Issue {
  path: string;
  message: string;
}

/** A failure that its caller is meant to see. Whatever else is thrown becomes `internal`. */
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

/** So many issues an answer names at the most, and so much of a path: input can be a mebibyte. */
const SHOWN_ISSUES = 20;
const SHOWN_PATH = 200;

export class BadInput extends ApiError {
  constructor(found: readonly Issue[]) {
    const issues = found
      .slice(0, SHOWN_ISSUES)
      .map(({ path, message }) => ({ path: path.slice(0, SHOWN_PATH), message }));
    const [first] = issues;
    const summary = first
      ? [first.path, first.message].filter(Boolean).join(": ")
      : "Invalid input.";
    super("bad_input", summary, { cause: { issues } });
  }
}

/** The message says what to send, and not what is wrong with what was sent. */
export class Unauthenticated extends ApiError {
  constructor(message: string) {
    super("unauthenticated", message);
  }
}

/** The credential may not do this in any organization, or its role there is too low. */
export class Unauthorized extends ApiError {
  constructor(message: string) {
    super("unauthorized", message);
  }

  static role(needed: string): Unauthorized {
    return new Unauthorized(`This needs the role ${needed} in the organization.`);
  }
}

/** The role in the project is too low. */
export class Forbidden extends ApiError {
  constructor(needed: string) {
    super(
      "forbidden",
      `This needs the role ${needed} in the project, or admin in the organization.`,
    );
  }
}

/**
 * The message never repeats the ID, so that the answer for another organization's record is, to
 * the byte, the answer for one that does not exist.
 */
export class NotFound extends ApiError {
  constructor(what: string) {
    super("not_found", `There is no such ${what}.`);
  }
}

export class Conflict extends ApiError {
  constructor(message: string) {
    super("conflict", message);
  }
}

export class RateLimited extends ApiError {
  constructor(retryAfterSeconds: number) {
    super("rate", `Too many requests. Retry in ${retryAfterSeconds} s.`, {
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

/** The deployment lacks settings that only a part of it needs. */
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
