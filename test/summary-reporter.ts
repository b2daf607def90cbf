import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Ends a run with one plain line that any CI can read: `N passed, N failed`. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: ReturnType<TestCase["result"]>["state"]) =>
      tests.filter((test) => test.result().state === state).length;
    const broken = modules.filter((module) => module.state() === "failed" && !hasFailure(module));
    const failed = count("failed") + broken.length;
    // After the default reporter's own summary, which is printed in this same turn.
    process.once("exit", () => console.log(`${count("passed")} passed, ${failed} failed`));
  }
}

function hasFailure(module: TestModule): boolean {
  return [...module.children.allTests("failed")].length > 0;
}
