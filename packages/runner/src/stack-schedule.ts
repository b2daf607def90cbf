import type { StackNeeds } from "./executors/needs.ts";

interface Scheduled {
  id: string;
  name: string;
}

export interface Schedule<Stack extends Scheduled, Failure> {
  /** In the order to begin them. */
  stacks: readonly Stack[];
  needs: ReadonlyMap<string, StackNeeds>;
  /** How many run at once. */
  parallel: number;
  /** Whether the stacks that do not need a failed one are deployed. */
  continueOnFailure: boolean;
  /** Whether no further stack begins. */
  isHalted(): boolean;
  /** Returns how it failed. */
  run(stack: Stack): Promise<Failure | undefined>;
  /** Skips a stack that needs a failed one, directly or through others. */
  skip(stack: Stack, failed: Stack): Promise<void>;
}

/**
 * Runs each stack once those that it needs have ended. After a failure, those that run go on to their end: a command that
 * is cut off may leave half of a change. Returns the failures, the first one first.
 */
export async function runStacks<Stack extends Scheduled, Failure>(
  schedule: Schedule<Stack, Failure>,
): Promise<Failure[]> {
  const run = new ScheduledRun(schedule);
  await run.toEnd();
  return run.failures;
}

class ScheduledRun<Stack extends Scheduled, Failure> {
  readonly failures: Failure[] = [];
  readonly #schedule: Schedule<Stack, Failure>;
  readonly #waiting: Set<Stack>;
  readonly #running = new Map<Stack, Promise<void>>();
  /** What failed, for each stack that has failed or was skipped. */
  readonly #causes = new Map<string, Stack>();
  #error: { thrown: unknown } | undefined;

  constructor(schedule: Schedule<Stack, Failure>) {
    this.#schedule = schedule;
    this.#waiting = new Set(schedule.stacks);
  }

  async toEnd(): Promise<void> {
    while (true) {
      this.#begin();
      if (this.#running.size === 0) break;
      await Promise.race(this.#running.values());
    }
    if (this.#error) throw this.#error.thrown;
  }

  #begin(): void {
    const { parallel, isHalted } = this.#schedule;
    for (const stack of this.#waiting) {
      if (this.#error || isHalted()) return;
      const cause = this.#needsOf(stack).flatMap((name) => this.#causes.get(name) ?? [])[0];
      if (cause) this.#skip(stack, cause);
      else if (this.#running.size < parallel && this.#mayBegin(stack)) this.#run(stack);
    }
  }

  #needsOf({ name }: Stack): string[] {
    return [...(this.#schedule.needs.get(name.normalize())?.names ?? [])];
  }

  #mayBegin(stack: Stack): boolean {
    if (this.failures.length > 0 && !this.#schedule.continueOnFailure) return false;
    const open = [...this.#waiting, ...this.#running.keys()].map(({ name }) => name.normalize());
    return !this.#needsOf(stack).some((name) => open.includes(name));
  }

  #run(stack: Stack): void {
    this.#track(stack, async () => {
      const failure = await this.#schedule.run(stack);
      if (failure === undefined) return;
      this.failures.push(failure);
      this.#causes.set(stack.name.normalize(), stack);
    });
  }

  #skip(stack: Stack, cause: Stack): void {
    this.#causes.set(stack.name.normalize(), cause);
    this.#track(stack, () => this.#schedule.skip(stack, cause));
  }

  /** What one of them throws is thrown once all have ended. */
  #track(stack: Stack, act: () => Promise<void>): void {
    this.#waiting.delete(stack);
    const running = act()
      .catch((thrown: unknown) => {
        this.#error ??= { thrown };
      })
      .finally(() => this.#running.delete(stack));
    this.#running.set(stack, running);
  }
}
