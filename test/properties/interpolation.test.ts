import { array, assert, constantFrom, dictionary, property, record, string } from "fast-check";
import { describe, expect, it } from "vitest";
import {
  interpolate,
  type ReferenceValues,
} from "../../packages/runner/src/executors/interpolation.ts";
import { findUnknownReferences } from "../../packages/runner/src/executors/references.ts";

const MAXIMUM = 10_000;
const text = () => string({ unit: "grapheme", maxLength: 20 });
/** Texts in which references are likely, also malformed ones. */
const hostile = () =>
  array(constantFrom("${", "$", "{", "}", "$${", "stack.name", "variables.A", "-", "\n", "x"), {
    maxLength: 12,
  }).map((parts) => parts.join(""));

const valuesOf = (given: Partial<ReferenceValues> = {}): ReferenceValues => ({
  source: {
    git: { ref: "refs/heads/main", commit: { sha: "6dcb09b" } },
    registry: { image: "ghcr.io/acme/shop:1.4.2" },
  },
  environment: { id: "1", name: "production" },
  stack: { id: "2", name: "api", outputs: {} },
  stacks: [
    { id: "3", name: "network", outputs: { subnet_id: "subnet-1", "a.b": "2" } },
    { id: "4", name: "data.base", outputs: { url: "postgres" } },
  ],
  variables: [{ name: "REGION", value: "eu" }],
  ...given,
});

const errorOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
  return undefined;
};

describe("interpolation in the settings of an executor", () => {
  it.each([
    ["${source.image}", "ghcr.io/acme/shop:1.4.2"],
    ["${source.registry.image}", "ghcr.io/acme/shop:1.4.2"],
    ["${source.commit}/${source.git.ref}", "6dcb09b/refs/heads/main"],
    ["${environment.name}-${stack.name}", "production-api"],
    ["${variables.REGION}", "eu"],
    ["${outputs.network.subnet_id}${outputs.network.a.b}", "subnet-12"],
    ["${outputs.data.base.url}", "postgres"],
    ["$${stack.name} costs $1 {}", "${stack.name} costs $1 {}"],
    ["$$${stack.name}", "$${stack.name}"],
  ])("makes %s to %s", (given, expected) => {
    expect(findUnknownReferences(given)).toEqual([]);
    expect(interpolate(given, valuesOf(), MAXIMUM)).toBe(expected);
  });

  it.each([
    "${}",
    "${stack.name",
    "${ stack.name}",
    "${stack.id}",
    "${environment}",
    "${source}",
    "${variables.}",
    "${outputs.network}",
    "${secrets.A}",
    "${process.env}",
    "${constructor.name}",
    "${__proto__.a}",
  ])("does not know %s", (given) => {
    expect(findUnknownReferences(`a ${given}`)).toEqual([`a ${given}`.slice(2)]);
    expect(errorOf(() => interpolate(given, valuesOf(), MAXIMUM))).toContain("has no value");
  });

  it.each([
    "${source.git}",
    "${source.toString}",
    "${source.git.commit.sha.length}",
    "${source.__proto__.a}",
    "${variables.OTHER}",
    "${variables.constructor}",
    "${outputs.network.other}",
    "${outputs.network.constructor}",
    "${outputs.other.subnet_id}",
  ])("has no value for %s, and names it", (given) => {
    expect(findUnknownReferences(given)).toEqual([]);
    const error = errorOf(() => interpolate(`x ${given}`, valuesOf(), MAXIMUM));
    expect(error).toBe(`refers to "${given}", which has no value in this deployment.`);
  });

  it("takes the stack with the longest name, also of stacks that are not deployed", () => {
    const stacks = [
      { id: "3", name: "a", outputs: { "b.url": "1", "b.other": "3" } },
      { id: "4", name: "a.b", outputs: { url: "2" } },
    ];
    const given = "${outputs.a.b.url} ${outputs.needed.url}";
    const needed_stacks = [{ id: "5", name: "needed", outputs: { url: "4" } }];
    expect(interpolate(given, valuesOf({ stacks, needed_stacks }), MAXIMUM)).toBe("2 4");
    const other = "${outputs.a.b.other}";
    expect(errorOf(() => interpolate(other, valuesOf({ stacks }), MAXIMUM))).toContain(
      "which has no value in this deployment",
    );
  });

  it("leaves a text without references as it is", () => {
    assert(
      property(text(), (given) => {
        if (given.includes("${")) return;
        expect(interpolate(given, valuesOf(), MAXIMUM)).toBe(given);
      }),
    );
  });

  it("reads no references in what a value contains", () => {
    assert(
      property(hostile(), hostile(), (value, output) => {
        const variables = [{ name: "A", value }];
        const stacks = [{ id: "1", name: "s", outputs: { o: output } }];
        const values = valuesOf({ variables, stacks });
        const result = interpolate("a${variables.A}$${${outputs.s.o}", values, MAXIMUM);
        expect(result).toBe(`a${value}\${${output}`);
      }),
    );
  });

  it("escapes every text with $${", () => {
    assert(
      property(hostile(), (given) => {
        // A $ before the ${ would be a part of another escape.
        const plain = given.replaceAll(/\$+\{/g, "${");
        expect(
          interpolate(
            plain.replaceAll("${", () => "$${"),
            valuesOf(),
            MAXIMUM,
          ),
        ).toBe(plain);
      }),
    );
  });

  it("finds an unknown reference, or has the text or a missing value, and never a longer text", () => {
    const names = record({ name: constantFrom("A", "B"), value: text() });
    assert(
      property(hostile(), array(names), dictionary(text(), text()), (given, variables, outputs) => {
        const stacks = [{ id: "1", name: "s", outputs }];
        const values = valuesOf({ variables: variables.slice(0, 1), stacks });
        const error = errorOf(() => interpolate(given, values, 40));
        if (findUnknownReferences(given).length > 0) expect(error).toBeDefined();
        if (error !== undefined) expect(error).toMatch(/has no value|has more than 40 bytes/);
        else
          expect(new TextEncoder().encode(interpolate(given, values, 40)).length).toBeLessThan(41);
      }),
    );
  });

  it("ends early with a value that is named often", () => {
    const variables = [{ name: "A", value: "x".repeat(1_048_576) }];
    const given = "${variables.A}".repeat(10_000);
    const error = errorOf(() => interpolate(given, valuesOf({ variables }), 16_384));
    expect(error).toBe("has more than 16,384 bytes. Shorten it.");
  });
});
