import { describe, expect, it } from "vitest";
import type { Schemas } from "../../packages/client/src/index.ts";
import {
  ownReasonsOf,
  reasonOf,
  spanOf,
  statesOf,
} from "../../packages/console/src/pages/deployment/stack-states.ts";

type State = Schemas["StackOfDeployment"];

const TIME = "2026-11-29T10:00:00.000Z";
const state = (id: string, status: State["status"], status_reason?: string): State => ({
  ...{ id, status, timestamp: TIME },
  ...(status_reason !== undefined && { status_reason }),
});
const deployment = (stacks: State[], message?: string) =>
  ({
    stack_ids: ["a", "b", "c"],
    data: { patch: [], stacks },
    created_at: TIME,
    ...(message !== undefined && { message }),
  }) as unknown as Schemas["Deployment"];

describe("the stacks of a deployment", () => {
  it("are in the order of their needs, and pending until a runner has reported them", () => {
    const states = statesOf(deployment([state("b", "in_progress"), state("a", "succeeded")]));
    expect(states.map(({ id, status }) => [id, status])).toEqual([
      ["a", "succeeded"],
      ["b", "in_progress"],
      ["c", "pending"],
    ]);
  });

  it("give the reason of the first failure, which no other stack repeats", () => {
    const failed = deployment(
      [
        state("a", "failed", "No quota"),
        state("b", "skipped", "No quota"),
        state("c", "skipped", "Needs a"),
      ],
      "A stack failed",
    );
    expect(reasonOf(failed)).toBe("No quota");
    expect([...ownReasonsOf(failed)]).toEqual([["c", "Needs a"]]);
    expect(reasonOf(deployment([], "The runner is lost"))).toBe("The runner is lost");
  });

  it("last until now while they run, and have no time before they start", () => {
    const started = { started_at: TIME };
    const start = Date.parse(TIME);
    expect(spanOf(state("a", "skipped"))).toBe(undefined);
    expect(spanOf({ ...state("a", "in_progress"), ...started })).toEqual({ start, end: undefined });
    expect(spanOf({ ...state("a", "failed"), ...started })).toEqual({ start, end: start });
  });
});
