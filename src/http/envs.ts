import type { RequestOrigin, RunnerContext, ServiceContext } from "../context.ts";

/** Replies to a request with the result of its work, or of the request that it repeats. */
export type AnswerOnce = <Result>(
  work: (ctx: ServiceContext) => Promise<Result>,
  reply: (result: Result) => Promise<Response>,
) => Promise<Response>;

/**
 * Only the service context, so that a handler cannot reach the database or other bindings of the
 * Worker without its actor.
 */
export interface ApiKeyEnv {
  Bindings: ServiceContext;
  /** Absent: the request has no `Idempotency-Key`. */
  Variables: { answerOnce?: AnswerOnce };
}

export interface RunnerEnv {
  Bindings: RunnerContext;
}

export interface PublicEnv {
  Bindings: Env & { origin: RequestOrigin };
}
