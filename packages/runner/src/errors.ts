import type { ApiResponse, Directive } from "./api-types.ts";

/** An error whose message tells the operator what to do. Any other error prints its stack. */
export class RunnerError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** An error response that a retry would not change. */
export class ApiError extends RunnerError {
  readonly status: number;
  readonly directive: Directive;
  /** The `message` of the response, for people. */
  readonly serverMessage: string;
  /** `cause.reason` of the response, for programs. */
  readonly reason: string | undefined;
  /** `cause.status` of the response to a claim of a deployment that has ended. */
  readonly deploymentStatus: string | undefined;
  /** `cause.next_offset` of the response to bytes of a log. */
  readonly nextOffset: number | undefined;

  constructor(request: string, { status, directive, body }: ApiResponse) {
    const { code = "", message = "", cause } = (body ?? {}) as ErrorBody;
    super(`${request}: ${status} ${code} ${message}`.trimEnd());
    this.status = status;
    this.directive = directive;
    this.serverMessage = message;
    this.reason = cause?.reason;
    this.deploymentStatus = cause?.status;
    this.nextOffset = cause?.next_offset;
  }

  /** Whether this runner no longer holds the attempt. */
  get isAttemptLost(): boolean {
    return this.status === 409 || this.directive === "stop";
  }
}

interface ErrorBody {
  code?: string;
  message?: string;
  cause?: { reason?: string; status?: string; next_offset?: number } | null;
}

/** No response arrived before the deadline of the retries. */
export class NoResponseError extends RunnerError {}
