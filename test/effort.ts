/** How much a random test does: at least so many, and more while its seconds last. */
export type Budget = Record<"least" | "seconds", number>;

/** Of `.ci/run`, for all random tests: each has a share of them, for each time that it runs. */
const FULL_SECONDS = 30;

/** The limit of a random test that fills its budget, for a machine many times slower. */
export const LONG_MS = 3_600_000;

/** The least of `npm test`, which stops there, and of `.ci/run`, which sets `EFFORT=full`. */
const RANDOM = {
  /** Random walks of the state machine of deployments. */
  walks: { usual: 1, full: 3, share: 0.25 },
  /** Sequences of calls with a leaked credential, in two files. */
  leaks: { usual: 30, full: 100, share: 0.3 },
  /** Repetitions of each of eight races. */
  races: { usual: 6, full: 15, share: 0.01 },
  /** Random histories of retries, and of the writes to a log. */
  retryHistories: { usual: 12, full: 50, share: 0.08 },
  logHistories: { usual: 4, full: 12, share: 0.09 },
} satisfies Record<string, { usual: number; full: number; share: number }>;

/** What the generated tests do. */
const FIXED = {
  walkSeed: { usual: 1, full: 1 },
  leakSeed: { usual: 1, full: 1 },
  /** Events whose endpoints fail three times in ten. */
  faultyEvents: { usual: 200, full: 1_500 },
  /** One in so many of the points at which a fault is injected. */
  faultStride: { usual: 6, full: 1 },
  /** One in so many of the points of a delivery: with 4, each point has one of the four kinds of fault. */
  deliveryFaultStride: { usual: 4, full: 1 },
  /**
   * One in so many of the points at which an executor is killed, or loses a request: with 3, each point is one
   * of some scenario.
   */
  killStride: { usual: 6, full: 3 },
  /** One in so many of the pages that axe checks with all rules in a narrow window, too. */
  narrowStride: { usual: 4, full: 1 },
  /** One in so many of the hostile values. It must not divide their number. */
  hostileStride: { usual: 9, full: 4 },
  /** One in so many of the operations that a narrowed session calls. */
  sessionStride: { usual: 8, full: 2 },
  /** One in so many roles with which a narrowed key calls an operation: with 3, each role calls a third. */
  roleStride: { usual: 3, full: 2 },
  /** Audit entries of a day that has no room for more. */
  auditEntries: { usual: 1_000, full: 100_000 },
  /** The same request, sent at once. */
  repeatsAtOnce: { usual: 40, full: 100 },
  /** Random patches of each of ten tests. */
  randomPatches: { usual: 1_000, full: 4_000 },
  /** Random histories of an organization's window, in each of several tests. */
  windowHistories: { usual: 20, full: 60 },
  /** Rotations of keys that are interrupted at random. */
  interruptedRotations: { usual: 5, full: 12 },
  /**
   * Repetitions of each of seven races about the rules of an environment: with 10, each of the two is first by each
   * number of round trips.
   */
  protectionRaces: { usual: 10, full: 20 },
  /** One in so many of the records that are read from a backup, except the oldest and the newest. */
  backupReadStride: { usual: 8, full: 2 },
  /** Streams that follow one log. */
  followers: { usual: 50, full: 1_000 },
  /** Deployments of each outcome behind a faulty proxy. */
  chaosRuns: { usual: 2, full: 4 },
} satisfies Record<string, { usual: number; full: number }>;

type RandomName = keyof typeof RANDOM;
type FixedName = keyof typeof FIXED;
export type Effort = Readonly<Record<RandomName, Budget> & Record<FixedName, number>>;

const RANDOM_NAMES = Object.keys(RANDOM) as RandomName[];
const FIXED_NAMES = Object.keys(FIXED) as FixedName[];

/**
 * @param text Of the variable `EFFORT`: `full`, or amounts such as `walks=1000,walkSeed=7`.
 * @throws Error for anything else.
 */
export function readEffort(text = process.env["EFFORT"] ?? ""): Effort {
  const level = text === "full" ? "full" : "usual";
  const budgets = RANDOM_NAMES.map((name) => {
    const { [level]: least, share } = RANDOM[name];
    return [name, { least, seconds: level === "full" ? FULL_SECONDS * share : 0 }] as const;
  });
  const amounts = FIXED_NAMES.map((name) => [name, FIXED[name][level]] as const);
  const effort = Object.fromEntries([...budgets, ...amounts]) as Record<RandomName, Budget> &
    Record<FixedName, number>;
  for (const part of text === "full" || text === "" ? [] : text.split(",")) {
    const [given, amount = ""] = part.trim().split("=");
    const random = RANDOM_NAMES.find((name) => name === given);
    const fixed = FIXED_NAMES.find((name) => name === given);
    if (!(random ?? fixed) || !/^[1-9]\d*$/.test(amount)) {
      const names = [...RANDOM_NAMES, ...FIXED_NAMES].join(", ");
      throw new Error(
        `EFFORT cannot be ${part.trim()}. Set it to full, or to amounts of: ${names}`,
      );
    }
    if (random) effort[random] = { least: Number(amount), seconds: 0 };
    if (fixed) effort[fixed] = Number(amount);
  }
  return effort;
}

/** One in `stride` of the items, from another one with each offset. */
export function sampleOf<Item>(items: readonly Item[], stride: number, offset: number): Item[] {
  return items.filter((_, at) => (at + offset) % stride === 0);
}

/** The numbers from 0 to which a budget suffices. */
export function* countWithin({ least, seconds }: Budget): Generator<number> {
  // Not `Date`, which tests freeze.
  const end = performance.now() + seconds * 1000;
  for (let at = 0; at < least || performance.now() < end; at += 1) yield at;
}
