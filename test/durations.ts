import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { TestModule } from "vitest/node";

const ROOT = new URL("..", import.meta.url).pathname;
const FILE = new URL("durations.json", import.meta.url);
/** Shorter files are not worth a line. */
const RECORDED_SECONDS = 10;

/** Seconds of the longest files, by their path. `RECORD_DURATIONS=1` records those that are run. */
const SECONDS: Readonly<Record<string, number>> = JSON.parse(readFileSync(FILE.pathname, "utf8"));

export function secondsOf(moduleId: string): number {
  return SECONDS[relative(ROOT, moduleId)] ?? 0;
}

export function recordDurations(modules: readonly TestModule[]): void {
  const seconds = modules.map((module): [string, number] => [
    relative(ROOT, module.moduleId),
    Math.round(module.diagnostic().duration / 1000),
  ]);
  const long = seconds.filter(([, duration]) => duration >= RECORDED_SECONDS);
  const others = Object.entries(SECONDS).filter(([path]) => !seconds.some(([run]) => run === path));
  const sorted = Object.fromEntries([...others, ...long].toSorted());
  writeFileSync(FILE.pathname, `${JSON.stringify(sorted, null, 2)}\n`);
}
