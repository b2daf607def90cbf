import { BaseSequencer, type TestSpecification } from "vitest/node";
import { secondsOf } from "./durations.ts";

/** Starts the longest files of each project first, so that no core is idle at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => secondsOf(b.moduleId) - secondsOf(a.moduleId));
  }
}
