import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findCycle, readNeeds, sortByNeeds } from "../../packages/runner/src/executors/needs.ts";
import { runStacks } from "../../packages/runner/src/stack-schedule.ts";

const NAMES = ["a", "b", "b.c", "d", "e", "f"];

/** Which needs which, by name: as a list of needs, or as references to outputs. */
const anyNeeds = fc.dictionary(
  fc.constantFrom(...NAMES),
  fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 4 }),
);
/** Each needs only those before it. */
const withoutCycle = anyNeeds.map((needs) =>
  Object.fromEntries(
    Object.entries(needs).map(([name, needed]) => [
      name,
      needed.filter((each) => NAMES.indexOf(each) < NAMES.indexOf(name)),
    ]),
  ),
);
const anyOrder = fc.shuffledSubarray(NAMES, { minLength: 1 });

function needsOf(needs: Record<string, string[]>, asReferences: boolean) {
  const stacks = Object.entries(needs).map(([name, needed]) => [
    name,
    asReferences
      ? { settings: needed.map((each) => [`x \${outputs.${each}.url} y`]) }
      : { needs: needed },
  ]);
  return readNeeds({ stacks: Object.fromEntries(stacks) }, new Set(NAMES));
}

describe("an order by needs", () => {
  it("has each stack once, after those that it needs, however these are written", () => {
    fc.assert(
      fc.property(withoutCycle, anyOrder, fc.boolean(), (needs, names, asReferences) => {
        const { sorted, left } = sortByNeeds(names, needsOf(needs, asReferences));
        expect(left).toEqual([]);
        expect(sorted.toSorted()).toEqual(names.toSorted());
        for (const [name, needed] of Object.entries(needs)) {
          for (const each of needed) {
            if (!sorted.includes(name) || !sorted.includes(each)) continue;
            expect(sorted.indexOf(each)).toBeLessThan(sorted.indexOf(name));
          }
        }
      }),
    );
  });

  it("is the order given if that suits the needs", () => {
    fc.assert(
      fc.property(withoutCycle, (needs) => {
        expect(sortByNeeds(NAMES, needsOf(needs, false)).sorted).toEqual(NAMES);
      }),
    );
  });

  it("leaves stacks out exactly if there is a cycle, which is then found", () => {
    fc.assert(
      fc.property(anyNeeds, fc.boolean(), (needs, asReferences) => {
        const read = needsOf(needs, asReferences);
        const cycle = findCycle(read);
        expect(cycle === undefined).toBe(sortByNeeds(NAMES, read).left.length === 0);
        for (const [at, name] of (cycle ?? []).entries()) {
          const next = cycle?.[(at + 1) % cycle.length] ?? "";
          expect(read.get(name)?.names.has(next)).toBe(true);
        }
      }),
    );
  });
});

describe("the needs of thousands of stacks", () => {
  const names = Array.from({ length: 9_000 }, (_, at) => `s${at}`);

  /** Each needs the next one, and the last one these. */
  function chain(last: string[]) {
    const needed = names.map((_, at) => names.slice(at + 1, at + 2));
    const stacks = names.map((name, at) => [name, { needs: needed[at + 1] ? needed[at] : last }]);
    return readNeeds({ stacks: Object.fromEntries(stacks) }, new Set(names));
  }

  it("are sorted, or are a cycle of all of them", () => {
    expect(sortByNeeds(names, chain([])).sorted).toEqual(names.toReversed());
    expect(findCycle(chain([]))).toBeUndefined();
    expect(findCycle(chain(["s0"]))).toEqual(names);
    expect(findCycle(chain(["s8990"]))).toEqual(names.slice(8_990));
  });
});

describe("a run of stacks", () => {
  const outcomes = fc.dictionary(
    fc.constantFrom(...NAMES),
    fc.constantFrom("fails", "throws", "succeeds"),
  );

  it("begins none before those that it needs have ended, and no more than so many at once", async () => {
    await fc.assert(
      fc.asyncProperty(
        withoutCycle,
        outcomes,
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        fc.scheduler(),
        async (needs, ends, parallel, continueOnFailure, scheduler) => {
          const stacks = NAMES.map((name) => ({ id: name, name }));
          const succeeded: string[] = [];
          const failed: string[] = [];
          const skipped: string[] = [];
          let running = 0;
          let mostRunning = 0;
          const run = runStacks({
            ...{ stacks, parallel, continueOnFailure, needs: needsOf(needs, false) },
            isHalted: () => false,
            run: async ({ name }) => {
              for (const each of needs[name] ?? []) expect(succeeded).toContain(each);
              expect(failed.length === 0 || continueOnFailure).toBe(true);
              mostRunning = Math.max(mostRunning, ++running);
              await scheduler.schedule(Promise.resolve(), name);
              running -= 1;
              const end = ends[name] ?? "succeeds";
              (end === "succeeds" ? succeeded : failed).push(name);
              if (end === "throws") throw new Error(name);
              return end === "fails" ? name : undefined;
            },
            skip: async ({ name }, cause) => {
              expect(failed).toContain(cause.name);
              skipped.push(name);
            },
          });
          const settled = Promise.allSettled([run]);
          await scheduler.waitFor(settled);
          const [result] = await settled;
          expect(running).toBe(0);
          expect(mostRunning).toBeLessThanOrEqual(parallel);
          const thrown = NAMES.some((name) => failed.includes(name) && ends[name] === "throws");
          expect(result.status).toBe(thrown ? "rejected" : "fulfilled");
          const ended = [...succeeded, ...failed, ...skipped];
          expect(ended).toHaveLength(new Set(ended).size);
          if (thrown) return;
          if (failed.length === 0) expect(succeeded.toSorted()).toEqual(NAMES.toSorted());
          if (continueOnFailure) expect(ended.toSorted()).toEqual(NAMES.toSorted());
        },
      ),
    );
  });
});
