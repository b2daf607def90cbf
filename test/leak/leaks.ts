import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { countWithin, LONG_MS } from "../effort.ts";
import { operations } from "../support/contract.ts";
import { seededRandom } from "../support/random.ts";
import { Attacker, type Coverage } from "./attacker.ts";
import { findLosses, findOverreach, readAuthorities } from "./bystanders.ts";
import { Containment } from "./containment.ts";
import { returnsSecret } from "./document.ts";
import { Fixtures } from "./fixtures.ts";
import { findAccepted, findAlive } from "./survivors.ts";
import { LeakWorker } from "./worker.ts";

const MINIMUM_CALLS = 4;
const MAXIMUM_CALLS = 10;
/** Fewer sequences may miss an operation that returns a secret. */
const SEQUENCES_FOR_COVERAGE = 500;
/** Each of them has all kinds. */
const HALVES = 2;
const SEEDS = 2 ** 31;

/** A leak, and what its finder does with it: each seed decides one call. */
interface Sequence {
  seed: number;
  kind: string;
  moves: number[];
}

interface Outcome {
  problems: string[];
  log: string[];
}

class Leaks {
  readonly coverage: Coverage = new Map();
  sequences = 0;
  #calls = 0;
  readonly #workers: LeakWorker[];
  readonly #fixtures: Fixtures;

  private constructor(workers: LeakWorker[], fixtures: Fixtures) {
    this.#workers = workers;
    this.#fixtures = fixtures;
  }

  static async create(): Promise<Leaks> {
    const settings = ["true", "false"].map((value) => ({ TRUST_ADMINS: value }));
    const [first, ...others] = await Promise.all(settings.map((each) => LeakWorker.create(each)));
    if (!first) throw new Error("There is no worker");
    return new Leaks([first, ...others], await Fixtures.create(first));
  }

  sequenceOf(seed: number): Sequence {
    const { kinds } = this.#fixtures;
    const random = seededRandom(seed);
    const length = MINIMUM_CALLS + random.below(MAXIMUM_CALLS - MINIMUM_CALLS + 1);
    const moves = Array.from({ length }, () => random.below(SEEDS));
    return { seed, kind: kinds[Math.floor(seed / HALVES) % kinds.length] ?? "", moves };
  }

  async run({ seed, kind, moves }: Sequence): Promise<Outcome> {
    const worker = this.#workerFor(seed);
    const fixture = await this.#fixtures.copy(kind);
    const attacker = new Attacker(worker, fixture, this.coverage);
    const containment = new Containment(worker, fixture);
    const { bystanders } = fixture;
    const problems: string[] = [];
    try {
      const start = await readAuthorities(bystanders);
      for (const move of moves) await attacker.move(move);
      const before = await readAuthorities(bystanders);
      if (await containment.run()) {
        problems.push(...(await findLosses(fixture, start, before)));
        problems.push(...(await findOverreach(worker, bystanders, { before, tried: seed })));
        problems.push(...(await findAccepted(worker, fixture, attacker)));
        problems.push(...(await findAlive(worker, attacker.knowledge.credentials)));
      } else {
        // Nobody can revoke anything in an organization that is gone. Its own credentials have ended.
        problems.push(...(await findAlive(worker, attacker.knowledge.credentialsOf(fixture.home))));
      }
    } catch (error) {
      problems.push(String(error));
    }
    this.sequences += 1;
    this.#calls += moves.length;
    return { problems, log: [...attacker.log, "", ...containment.log] };
  }

  /** The kinds take turns with each setting. */
  #workerFor(seed: number): LeakWorker {
    const round = Math.floor(seed / HALVES / this.#fixtures.kinds.length);
    const worker = this.#workers[round % this.#workers.length];
    if (!worker) throw new Error("There is no worker");
    return worker;
  }

  /** How often each operation has succeeded. */
  describeCoverage(): string {
    const counts = operations.map(({ operationId }) => {
      return `${this.coverage.get(operationId) ?? 0} ${operationId}`;
    });
    const title = `${this.sequences} sequences, ${this.#calls} calls. Successes:`;
    return [title, ...counts].join("\n");
  }

  /** The same problem, with as few calls as possible. */
  async minimize(sequence: Sequence): Promise<Sequence> {
    let { moves } = sequence;
    for (const left of sequence.moves) {
      const fewer = moves.filter((move) => move !== left);
      const { problems } = await this.run({ ...sequence, moves: fewer });
      if (problems.length > 0) moves = fewer;
    }
    return { ...sequence, moves };
  }

  async describeFailure(sequence: Sequence): Promise<string> {
    const { seed, kind, moves } = await this.minimize(sequence);
    const { problems, log } = await this.run({ seed, kind, moves });
    const title = `${kind} (EFFORT=leaks=1,leakSeed=${seed})`;
    return [title, ...problems.map((each) => `! ${each}`), ...log].join("\n");
  }
}

/** Runs half of the sequences. Vitest runs the two files in parallel. */
export function describeLeaks(half: 0 | 1): void {
  const { least, seconds } = env.EFFORT.leaks;
  const ofHalf = { least: Math.ceil((least - half) / HALVES), seconds };

  describe.runIf(ofHalf.least > 0)("what leaks, with all that its finder makes with it", () => {
    let leaks: Leaks;

    beforeAll(async () => {
      leaks = await Leaks.create();
    });

    it(
      "ends with its family, and nothing else does",
      async () => {
        for (const at of countWithin(ofHalf)) {
          const sequence = leaks.sequenceOf(env.EFFORT.leakSeed + at * HALVES + half);
          const { problems } = await leaks.run(sequence);
          if (problems.length > 0) throw new Error(await leaks.describeFailure(sequence));
        }
        expect(leaks.sequences).toBeGreaterThanOrEqual(ofHalf.least);
      },
      LONG_MS,
    );

    it.runIf(ofHalf.least >= SEQUENCES_FOR_COVERAGE)("reaches every secret", () => {
      const expected = operations.filter(returnsSecret).map(({ operationId }) => operationId);
      const missed = expected.filter((id) => !leaks.coverage.has(id));
      expect(missed, leaks.describeCoverage()).toEqual([]);
    });
  });
}
