/** What a Durable Object is called through: a stub that has thrown stays broken. */
export interface ObjectNamespace<Stub> {
  getByName(name: string): Stub;
}

export interface CallLimits {
  /** For the first call, and for the one retry, in milliseconds. */
  timeoutsMs: readonly [first: number, retry: number];
  /** Work in parallel with the first call: its timeout starts when this ends. */
  parallelWork?: Promise<unknown> | undefined;
}

/**
 * Calls an object, and once more through a new stub if that fails or takes too long. An overloaded
 * object is not called again.
 * @throws The error of the last call, or an `Error` after its timeout.
 */
export async function callObject<Stub, Answer>(
  namespace: ObjectNamespace<Stub>,
  name: string,
  call: (stub: Stub) => Promise<Answer>,
  { timeoutsMs: [first, retry], parallelWork }: CallLimits,
): Promise<Answer> {
  try {
    const answer = call(namespace.getByName(name));
    if (parallelWork && (await isFirst(answer, parallelWork))) return await answer;
    return await withTimeout(answer, first);
  } catch (error) {
    if (isOverloaded(error)) throw error;
    return withTimeout(call(namespace.getByName(name)), retry);
  }
}

/** The runtime marks its own errors: see "Error handling" in the Durable Objects documentation. */
export function isOverloaded(error: unknown): boolean {
  return error instanceof Error && "overloaded" in error && error.overloaded === true;
}

/** Whether the answer arrives before the work is done, however either ends. */
function isFirst(answer: Promise<unknown>, work: Promise<unknown>): Promise<boolean> {
  const is = (which: boolean) => () => which;
  return Promise.race([answer.then(is(true), is(true)), work.then(is(false), is(false))]);
}

async function withTimeout<Answer>(answer: Promise<Answer>, timeoutMs: number): Promise<Answer> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`No answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
