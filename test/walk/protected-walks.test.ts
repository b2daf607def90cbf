import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { countWithin, LONG_MS } from "../effort.ts";
import { seededRandom } from "../support/random.ts";
import { installInvariants } from "./invariants.ts";
import { ProtectedWalk } from "./protected-walk.ts";

const STEPS = 250;

beforeAll(installInvariants);

it(
  "random people and runners in protected environments start nothing without its conditions, and nothing waits with them",
  async () => {
    const starts = { allowed: 0, refused: 0 };
    for (const at of countWithin(env.EFFORT.walks)) {
      const seed = env.EFFORT.walkSeed + at;
      const walk = new ProtectedWalk(seededRandom(seed));
      try {
        await walk.run(STEPS);
      } catch (error) {
        const last = walk.log.slice(-30).join("\n");
        throw new Error(`Walk ${seed} (EFFORT=walks=1,walkSeed=${seed}): ${error}\n${last}`);
      }
      starts.allowed += walk.starts.allowed;
      starts.refused += walk.starts.refused;
    }
    expect(starts.allowed).toBeGreaterThan(0);
    expect(starts.refused).toBeGreaterThan(0);
  },
  LONG_MS,
);
