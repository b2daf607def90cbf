import { ApiError, ConnectionError, LongshoreError, TimeoutError } from "../../client/src/index.ts";
import { toPlainText } from "./plain-text.ts";

/** What the process exits with. Of a deployment, its outcome; never that of a stream. */
export const ExitCode = {
  succeeded: 0,
  /** A usage error, or a request that the service refuses. */
  error: 1,
  failed: 2,
  canceled: 3,
  superseded: 4,
  timedOut: 5,
  unreachable: 6,
  /** 128 and the number of SIGINT, as shells have it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** An error whose message tells the user what to do. Any other error prints its stack. */
export class CliError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = ExitCode.error) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What a user can do about an error of the client. Other errors stay as they are. */
export function explain(error: unknown, advice: Advice = ADVICE): unknown {
  if (error instanceof ApiError) {
    return new CliError(
      describeRefusal(error, advice),
      isOfProxy(error) ? ExitCode.unreachable : ExitCode.error,
    );
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return new CliError(describeSilence(error), ExitCode.unreachable);
  }
  return error instanceof LongshoreError ? new CliError(error.message) : error;
}

/** Whether `If-Match` names another version than the current one. */
export function isOutdated(error: unknown): boolean {
  return error instanceof ApiError && error.cause !== undefined && "etag" in error.cause;
}

/** The page of a proxy that does not reach the service. */
function isOfProxy({ code, status }: ApiError): boolean {
  return code === "unexpected_response" && status >= 500;
}

type Advice = Partial<Record<ApiError["code"], string>>;

const ADVICE: Advice = {
  unauthenticated: "Run: longshore login",
};

/** What the service says of a path, not of a record, that is not there. */
const NO_PATH = "There is no such path.";
const NO_PATH_ADVICE = "Is the URL right?";

function describeRefusal(error: ApiError, advice: Advice): string {
  const { code, status, message, cause, requestId } = error;
  const issues = typeof cause === "object" && "issues" in cause ? cause.issues : [];
  const lines = issues
    .filter((issue) => issues.length > 1 || !message.includes(issue.message))
    .map((issue) => `  ${issue.path || "body"}: ${issue.message}`);
  const where = requestId ? `, request ${requestId}` : "";
  const next = message === NO_PATH ? NO_PATH_ADVICE : advice[code];
  const sentences = [`${message} (${code}, status ${status}${where})`, next ?? []].flat();
  return [sentences.join(" "), ...lines].map(toPlainText).join("\n");
}

function describeSilence({ message }: Error): string {
  const isClock = /certificate (has expired|is not yet valid)/i.test(message);
  const advice = isClock
    ? "Is the clock of this machine right?"
    : "Is the URL right, and is the service running?";
  return `There is no response: ${message}. ${advice}`;
}
