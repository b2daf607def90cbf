import type { Invocation } from "../support/delivery-harness.ts";

/** Fails one external call, before or after it takes effect; may also crash the whole invocation. */
export interface Fault {
  after: boolean;
  crashes: boolean;
}

export const FAULTS: readonly Fault[] = [
  { after: false, crashes: false },
  { after: true, crashes: false },
  { after: false, crashes: true },
  { after: true, crashes: true },
];

/** Makes external calls of invocations fail at points that the test chooses. */
export class FaultInjector {
  /** The number of external calls: database batches, queue calls and requests. */
  points = 0;
  injected = 0;
  readonly #choose: (point: number) => Fault | undefined;

  constructor(choose: (point: number) => Fault | undefined) {
    this.#choose = choose;
  }

  newInvocation(): Invocation {
    const invocation = {
      hasCrashed: false,
      pass: async <Result>(run: () => Promise<Result>): Promise<Result> => {
        if (invocation.hasCrashed) throw new Error("A crashed worker makes no calls");
        this.points += 1;
        const fault = this.#choose(this.points);
        if (!fault) {
          const result = await run();
          if (invocation.hasCrashed) throw new Error("A crashed worker gets no replies");
          return result;
        }
        this.injected += 1;
        if (fault.after) await run();
        if (fault.crashes) invocation.hasCrashed = true;
        throw new Error("Injected fault");
      },
    };
    return invocation;
  }
}
