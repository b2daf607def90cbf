import type { Reporter, TestCase, TestModule } from "vitest/node";
import { recordDurations } from "./durations.ts";

/** The hint at the end of `npm test`. */
const REST = "The tests that start programs and browsers: npm run test:programs";

/** Prints a last line for CI: `N passed, N failed`. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: ReturnType<TestCase["result"]>["state"]) =>
      tests.filter((test) => test.result().state === state).length;
    const broken = modules.filter((module) => module.state() === "failed" && !hasFailure(module));
    if (process.env["RECORD_DURATIONS"]) recordDurations(modules);
    const failed = count("failed") + broken.length;
    // On exit, because the default reporter prints its summary after this hook.
    process.once("exit", () => {
      if (process.env["npm_lifecycle_event"] === "test") console.log(REST);
      console.log(`${count("passed")} passed, ${failed} failed`);
    });
  }
}

function hasFailure(module: TestModule): boolean {
  return [...module.children.allTests("failed")].length > 0;
}
