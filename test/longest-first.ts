import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Mostly wait for programs, so they run beside tests that compute. */
const WAITING = ["node/tour.test.ts", "node/start.test.ts"];
const LONGEST = ["contract/hostile-input", "walk/even", "walk/odd", "changelog/changelog"].map(
  (name) => `${name}.test.ts`,
);
const FIRST = [...WAITING, ...LONGEST];

/**
 * Starts the longest files first, so that no core is idle at the end. The files of a project follow
 * each other, because the next file reuses the runtime of the last one.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProjectAndSize = await super.sort(files);
    return byProjectAndSize.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const at = FIRST.findIndex((name) => moduleId.endsWith(`/${name}`));
  if (at >= 0) return at;
  return FIRST.length + (project.name === "worker" ? 0 : 1);
}
