import { ApiError, type ErrorCause, type ErrorCode } from "./errors.ts";
import { parseRetryAfter } from "./retry.ts";

interface ErrorBody {
  code: ErrorCode;
  message: string;
  cause?: ErrorCause;
}

/** The parsed JSON; the text if the response has another type; undefined if it has no body. */
export async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === "") return undefined;
  const type = response.headers.get("content-type") ?? "";
  if (/^(text\/plain|application\/x-ndjson)\b/.test(type)) return text;
  const json = parseJson(text);
  if (json === undefined) throw unexpectedResponse(response);
  return json;
}

export async function readError(response: Response): Promise<ApiError> {
  const body = parseJson(await response.text());
  if (!isErrorBody(body)) return unexpectedResponse(response);
  const { code, message, cause } = body;
  return new ApiError(message, { ...detailsOf(response), code, cause });
}

export function unexpectedResponse(response: Response): ApiError {
  const { status, headers } = response;
  const location = headers.get("location");
  // Browsers hide the status and the headers of a redirect.
  const isRedirect = status === 0 || (status >= 300 && status < 400 && location !== null);
  const what = isRedirect
    ? `a redirect${location ? ` to ${location}` : ""}`
    : `the status ${status} and ${headers.get("content-type") ?? "no content type"}`;
  const message = `The response is not one of Longshore's API: ${what}. Is the URL right?`;
  return new ApiError(message, { ...detailsOf(response), code: "unexpected_response" });
}

function detailsOf({ status, headers }: Response) {
  return {
    status,
    headers,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: parseRetryAfter(headers.get("retry-after")),
  };
}

/** Undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== "object" || body === null) return false;
  return "code" in body && typeof body.code === "string" && "message" in body;
}
