import type { components } from "./generated/api.ts";

type Schemas = components["schemas"];

export type ErrorCode = Schemas["ErrorCode"];
export type ErrorCause = Schemas["ErrorCause"];

/** The base of every error that the client throws for a request. */
export class LongshoreError extends Error {
  override readonly name: string = "LongshoreError";
}

export interface ApiErrorDetails {
  /** `unexpected_response`: a redirect, or a body that is not Longshore's, such as a proxy's page. */
  code: ErrorCode | "unexpected_response";
  cause?: ErrorCause | undefined;
  status: number;
  requestId: string | undefined;
  retryAfterMs: number | undefined;
  headers: Headers;
}

/** The service, or a proxy before it, has refused the request. */
export class ApiError extends LongshoreError {
  override readonly name = "ApiError";
  readonly code: ApiErrorDetails["code"];
  override readonly cause: ErrorCause | undefined;
  /** 0 for a redirect in a browser, which hides its status. */
  readonly status: number;
  /** `X-Request-Id`, for the operator of the service. */
  readonly requestId: string | undefined;
  /** How long the service asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** Of the response. */
  readonly headers: Headers;
  /** Whether an earlier try of the call had no usable response, and may have done the work. */
  followsLostResponse = false;

  constructor(message: string, details: ApiErrorDetails) {
    super(message);
    this.code = details.code;
    this.cause = details.cause;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
    this.headers = details.headers;
  }
}

/** There is no response, or only the beginning of one. The service may have done the work. */
export class ConnectionError extends LongshoreError {
  override readonly name = "ConnectionError";
}

/** There is no response in time. The service may have done the work. */
export class TimeoutError extends LongshoreError {
  override readonly name = "TimeoutError";
}
