/** A namespace and not a stub, because a stub that has thrown stays broken. */
export interface ObjectNamespace<Stub> {
  getByName(name: string): Stub;
}

export interface CallOptions {
  timeoutsMs: readonly [first: number, retry: number];
  /** The timeout of the first call starts when this ends. */
  parallelWork?: Promise<unknown> | undefined;
}

let timeoutFactor = 1;

/** For tests, which must pass on a machine that is slower than the timeouts allow. */
export function multiplyTimeouts(factor: number): void {
  timeoutFactor = factor;
}

/**
 * Calls an object. Retries once, through a new stub, if the call fails or times out, unless the
 * object is overloaded.
 * @throws The error of the last call, or an `Error` after its timeout.
 */
export async function callObject<Stub, Result>(
  namespace: ObjectNamespace<Stub>,
  name: string,
  call: (stub: Stub) => Promise<Result>,
  { timeoutsMs: [first, retry], parallelWork }: CallOptions,
): Promise<Result> {
  try {
    const result = call(namespace.getByName(name));
    if (parallelWork && (await settlesFirst(result, parallelWork))) return await result;
    return await withTimeout(result, first);
  } catch (error) {
    if (isOverloaded(error)) throw error;
    return await withTimeout(call(namespace.getByName(name)), retry);
  }
}

/** Set by the runtime (Durable Objects documentation, "Error handling"). */
export function isOverloaded(error: unknown): boolean {
  return error instanceof Error && "overloaded" in error && error.overloaded === true;
}

/** Without `Promise.race`, which makes four more promises. */
function settlesFirst(result: Promise<unknown>, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const is = (which: boolean) => () => resolve(which);
    result.then(is(true), is(true));
    work.then(is(false), is(false));
  });
}

async function withTimeout<Result>(result: Promise<Result>, timeoutMs: number): Promise<Result> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`No response within ${timeoutMs} ms`)),
    timeoutMs * timeoutFactor,
  );
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
