import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { variablesOfStack } from "../../packages/runner/src/stack-variables.ts";

const ofComponent = (component_id: string | undefined) =>
  component_id === undefined ? {} : { component_id };
const variable = (name: string, component_id?: string) => ({
  name,
  value: `${name} of ${component_id ?? "the environment"}`,
  storage_method: "secret",
  ...ofComponent(component_id),
});

const component = fc.option(fc.constantFrom("api", "jobs"), { nil: undefined });
const variables = fc
  .uniqueArray(fc.tuple(fc.constantFrom("A", "B", "C"), component), { selector: String })
  .map((all) => all.map(([name, of]) => variable(name, of)));

describe("the variables of a stack", () => {
  it("have each name once: of its component, or else of the environment", () => {
    const property = fc.property(variables, component, (delivered, own) => {
      const expected = ["A", "B", "C"].flatMap((name) => {
        const named = delivered.filter((each) => each.name === name);
        const ofOwn = named.find(({ component_id }) => own !== undefined && component_id === own);
        return ofOwn ?? named.find(({ component_id }) => component_id === undefined) ?? [];
      });
      const stacks = [
        { stack_id: "other", component_id: "jobs" },
        { stack_id: "stack", ...ofComponent(own) },
      ];
      const found = variablesOfStack({ variables: delivered, stacks }, "stack");
      expect(new Set(found)).toEqual(new Set(expected));
      expect(found).toHaveLength(expected.length);
    });
    fc.assert(property);
  });
});
