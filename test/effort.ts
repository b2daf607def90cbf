interface Amount {
  /** Of `npm test`. */
  usual: number;
  /** Of `.ci/run`, which sets `EFFORT=full`. */
  full: number;
}

/** How much the random tests and the generated ones do. */
const AMOUNTS = {
  /** Random walks of the state machine of deployments. */
  walks: { usual: 2, full: 40 },
  walkSeed: { usual: 1, full: 1 },
  /** Sequences of calls with a leaked credential. */
  leaks: { usual: 40, full: 2_000 },
  leakSeed: { usual: 1, full: 1 },
  /** Repetitions of each race. */
  races: { usual: 10, full: 60 },
  /** Events whose endpoints fail three times in ten. */
  faultyEvents: { usual: 300, full: 10_000 },
  /** Random histories of retries, and of the writes to a log. */
  retryHistories: { usual: 20, full: 100 },
  logHistories: { usual: 6, full: 40 },
  /** One in so many of the points at which a fault is injected. */
  faultStride: { usual: 4, full: 1 },
  /** One in so many of the hostile values. It must not divide their number. */
  hostileStride: { usual: 9, full: 2 },
  /** One in so many of the operations that a narrowed session calls. */
  sessionStride: { usual: 8, full: 1 },
  /** One in so many roles with which a narrowed key calls an operation: with 3, each role calls a third. */
  roleStride: { usual: 3, full: 1 },
  /** Streams that follow one log. */
  followers: { usual: 100, full: 1_000 },
  /** Deployments of each outcome behind a faulty proxy. */
  chaosRuns: { usual: 8, full: 8 },
} satisfies Record<string, Amount>;

type Name = keyof typeof AMOUNTS;
export type Effort = Readonly<Record<Name, number>>;

const NAMES = Object.keys(AMOUNTS) as Name[];

/**
 * @param text Of the variable `EFFORT`: `full`, or amounts such as `walks=1000,walkSeed=7`.
 * @throws Error for anything else.
 */
export function readEffort(text = process.env["EFFORT"] ?? ""): Effort {
  const level = text === "full" ? "full" : "usual";
  const amounts = Object.fromEntries(NAMES.map((name) => [name, AMOUNTS[name][level]])) as Record<
    Name,
    number
  >;
  for (const part of text === "full" || text === "" ? [] : text.split(",")) {
    const [given, amount = ""] = part.trim().split("=");
    const name = NAMES.find((known) => known === given);
    if (!name || !/^[1-9]\d*$/.test(amount)) {
      throw new Error(
        `EFFORT cannot be ${part.trim()}. Set it to full, or to amounts of: ${NAMES.join(", ")}`,
      );
    }
    amounts[name] = Number(amount);
  }
  return amounts;
}
