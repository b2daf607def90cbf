import { BaseSequencer, type TestSpecification } from "vitest/node";
import { secondsOf } from "./durations.ts";

/**
 * Starts the longest files first, so that no core is idle at the end. The files of a project follow
 * each other, because the next file reuses the runtime of the last one. Those that start programs come
 * first: they partly wait, and the short files at the end are of the other project.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isWorker = ({ project }: TestSpecification) => Number(project.name === "worker");
    return files.toSorted(
      (a, b) => isWorker(a) - isWorker(b) || secondsOf(b.moduleId) - secondsOf(a.moduleId),
    );
  }
}
