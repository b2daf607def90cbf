import { describe, expect, it } from "vitest";
import {
  ATTEMPT_STATES,
  DEPLOYMENT_STATUSES,
  REPORTED_STATUSES,
  STACK_STATUSES,
  statesBefore,
  TRANSITIONS,
  type Transition,
} from "../../../src/features/deployments/deployments/lifecycle.ts";

const modules: Record<string, object> = import.meta.glob(
  "../../../src/features/deployments/deployments/transitions/*.ts",
  { eager: true },
);

const STATES = {
  deployment: DEPLOYMENT_STATUSES,
  attempt: ATTEMPT_STATES,
  stack: STACK_STATUSES,
} as const;

const rows: [string, Transition<string>][] = Object.entries(TRANSITIONS).flatMap(
  ([record, transitions]) =>
    transitions.map((each): [string, Transition<string>] => [record, each]),
);

describe("the table of transitions", () => {
  it.each(rows)("names a function that exists (%s, %o)", (_, { code }) => {
    const [file, name] = code.split(".");
    const module = modules[`../../../src/features/deployments/deployments/transitions/${file}.ts`];
    expect(module).toHaveProperty(String(name), expect.any(Function));
  });

  it.each(Object.keys(STATES) as (keyof typeof STATES)[])(
    "reaches every state of a %s",
    (record) => {
      const reached = TRANSITIONS[record].flatMap(({ to }): readonly string[] => to);
      expect(new Set(reached)).toEqual(new Set(STATES[record]));
    },
  );

  it("never leaves a final state", () => {
    expect(statesBefore(TRANSITIONS.deployment)).toEqual(["queued", "in_progress", "canceling"]);
    expect(statesBefore(TRANSITIONS.attempt)).toEqual(["offered", "running"]);
    expect(statesBefore(TRANSITIONS.stack)).toEqual(["pending", "in_progress"]);
  });

  it("lets a runner report every reported status of a stack", () => {
    const reports = TRANSITIONS.stack.filter(({ by }) => by === "runner");
    const reported = reports.flatMap(({ to }): readonly string[] => to);
    expect(new Set(reported)).toEqual(new Set(REPORTED_STATUSES));
  });

  it("has these edges, and no others", () => {
    expect(edgesOf(TRANSITIONS.deployment)).toEqual([
      "canceling → canceled",
      "canceling → failed",
      "in_progress → canceled",
      "in_progress → canceling",
      "in_progress → failed",
      "in_progress → succeeded",
      "queued → canceled",
      "queued → failed",
      "queued → in_progress",
      "queued → superseded",
      "→ queued",
    ]);
    expect(edgesOf(TRANSITIONS.attempt)).toEqual([
      "offered → ended",
      "offered → running",
      "running → ended",
      "→ offered",
    ]);
    expect(edgesOf(TRANSITIONS.stack)).toEqual([
      "in_progress → canceled",
      "in_progress → failed",
      "in_progress → skipped",
      "in_progress → succeeded",
      "pending → canceled",
      "pending → failed",
      "pending → in_progress",
      "pending → skipped",
      "pending → succeeded",
      "→ pending",
    ]);
  });
});

/** Written out in the test, because the walk derives its edges from `TRANSITIONS`. */
function edgesOf(transitions: readonly { from: readonly string[]; to: readonly string[] }[]) {
  const edges = transitions.flatMap(({ from, to }) =>
    (from.length > 0 ? from : [""]).flatMap((before) => to.map((after) => `${before} → ${after}`)),
  );
  return [...new Set(edges.map((edge) => edge.trim()))].toSorted();
}
