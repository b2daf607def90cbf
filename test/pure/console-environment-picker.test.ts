import { describe, expect, it } from "vitest";
import {
  toChosen,
  toFilters,
} from "../../packages/console/src/pages/integrations/chosen-environments.ts";

const stacksOf = (...ids: string[]) => ids.map((id) => ({ id, name: id }));
const TREE = [
  { id: "staging", name: "staging", stacks: stacksOf("s1", "s2") },
  { id: "production", name: "production", stacks: stacksOf("p1", "p2") },
  { id: "empty", name: "empty", stacks: [] },
];

const chosen = (entries: Record<string, string[]>) => new Map(Object.entries(entries));

describe("the picker of environments", () => {
  it.each([
    ["all", undefined, { environment_ids: null, stack_ids: null }],
    ["no environment", {}, { environment_ids: null, stack_ids: null }],
    [
      "one with all of its stacks",
      { production: [] },
      { environment_ids: ["production"], stack_ids: null },
    ],
    [
      "one stack of one",
      { production: ["p2"] },
      { environment_ids: ["production"], stack_ids: ["p2"] },
    ],
    [
      "a stack of one, and all of another, which the filter of stacks must not leave out",
      { staging: [], production: ["p1"] },
      { environment_ids: ["staging", "production"], stack_ids: ["s1", "s2", "p1"] },
    ],
  ])("sends %s", (_, entries, filters) => {
    expect(toFilters(entries && chosen(entries), TREE)).toEqual(filters);
  });

  it.each([
    ["no filter", {}, undefined],
    ["environments", { environment_ids: ["staging", "empty"] }, { staging: [], empty: [] }],
    ["stacks alone", { stack_ids: ["s2", "p1"] }, { staging: ["s2"], production: ["p1"] }],
    ["all stacks of one", { stack_ids: ["s1", "s2"] }, { staging: [] }],
    [
      "both, which an event has to pass",
      { environment_ids: ["staging", "production"], stack_ids: ["s1"] },
      { staging: ["s1"] },
    ],
    ["a list whose environments are gone", { environment_ids: [] }, {}],
  ])("shows %s", (_, filters, entries) => {
    expect(toChosen(filters, TREE)).toEqual(entries && chosen(entries));
  });
});
