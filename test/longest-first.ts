import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest files of each project, in this order. */
const LONGEST = {
  node: ["reference-pages", "tour", "operations", "reference-browser", "start", "dev", "logs"],
  worker: [
    "hostile-input",
    "even-leaks",
    "odd-leaks",
    "even",
    "odd",
    "audit",
    "scopes",
    "documents",
    "dispatcher",
    "runner-api",
    "changelog",
    "repeats",
    "request-shape",
    "deletions",
    "backup",
    "contract",
  ],
};

/**
 * Starts the longest files first, so that no core is idle at the end. The files of a project follow
 * each other, because the next file reuses the runtime of the last one. Those that start programs come
 * first: they partly wait, and the short files at the end are of the other project.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProjectAndSize = await super.sort(files);
    return byProjectAndSize.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const isNode = project.name === "node";
  const longest = isNode ? LONGEST.node : LONGEST.worker;
  const at = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return (isNode ? 0 : 100) + (at < 0 ? longest.length : at);
}
