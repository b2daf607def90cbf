import { anything, assert, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveSettings } from "../../packages/runner/src/executors/resolve-settings.ts";
import type { Setting, SettingType } from "../../packages/runner/src/executors/setting.ts";
import {
  checkSettings,
  MAXIMUM_DEPTH,
  MAXIMUM_NAME_LENGTH,
  MAXIMUM_NAMES,
  MAXIMUM_TEXTS,
} from "../../packages/runner/src/executors/settings.ts";

const SECRET = "-a\nb";
const references = {
  source: { registry: { image: "shop:7" } },
  environment: { id: "1", name: "production" },
  stack: { id: "2", name: "api", outputs: {} },
  stacks: [{ id: "3", name: "network", outputs: { subnet: "subnet-9" } }],
  variables: [
    { name: "SECRET", value: SECRET },
    { name: "LARGE", value: "x".repeat(16_000) },
    { name: "KIND", value: "fast" },
  ],
};

const of = (setting: Setting, value: unknown) =>
  [
    { name: "test", settings: { given: setting } },
    { pointer: "/stacks/api", values: { executor: "test", given: value } },
  ] as const;
const check = (setting: Setting, value: unknown) => checkSettings(...of(setting, value));
const resolve = (setting: Setting, value: unknown) =>
  resolveSettings(...of(setting, value), references)["given"];

/** As many members as an object may have, and one more. */
const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`name${at}`, at]));
/** `depth` objects in each other. */
const nest = (depth: number): object => (depth === 1 ? { x: "x" } : { x: nest(depth - 1) });

describe("a setting", () => {
  const cases: [Setting, unknown[], unknown[], string][] = [
    [{ type: "boolean" }, [true, false], ["true", 0, null, []], "true or false"],
    [{ type: "folder" }, ["infra", "."], [1, ["infra"], {}], "the path of a folder"],
    [{ type: "path" }, ["infra/a.yaml"], [null, true], "the path of a file or folder"],
    [
      { type: "files" },
      [[], ["a"], Array(MAXIMUM_TEXTS).fill("a")],
      ["a", [1], Array(MAXIMUM_TEXTS + 1).fill("a")],
      "a list of at most 100 paths",
    ],
    [
      { type: "text", choices: ["fast", "slow"] },
      ["fast", "slow"],
      ["Fast", "", 1],
      "one of: fast, slow.",
    ],
    [
      { type: "texts", choices: ["fast", "slow"] },
      [[], ["slow"], ["fast", "slow", "fast"]],
      ["fast", [""], ["fast", "Slow"], ["fast", 1]],
      "a list of any of: fast, slow.",
    ],
    [
      { type: "map" },
      [{}, { a: "a", b: 1.5, c: false }, members(MAXIMUM_NAMES)],
      ["a", [], null, { a: null }, { a: {} }, { a: [] }, members(MAXIMUM_NAMES + 1)],
      "an object with at most 200 texts, numbers or booleans",
    ],
    [
      { type: "values" },
      [{}, { a: null, b: [{ c: [1] }] }, members(MAXIMUM_NAMES), nest(MAXIMUM_DEPTH)],
      ["a", [], null, 1, members(MAXIMUM_NAMES + 1)],
      "an object with at most 200 members",
    ],
  ];

  it.each(cases)(
    "of the type $type accepts some values, and no others",
    (setting, good, bad, expected) => {
      for (const value of good) expect([value, check(setting, value)]).toEqual([value, []]);
      for (const value of bad) {
        const [problem = ""] = check(setting, value);
        expect(problem).toContain(`/stacks/api/given must be ${expected}`);
      }
    },
  );

  it("may be left out, unless it is required", () => {
    expect(check({ type: "map" }, undefined)).toEqual([]);
    expect(check({ type: "folder", isRequired: true }, undefined)).toEqual([
      "/stacks/api/given is missing. Set it to the path of a folder in the repository.",
    ]);
  });

  it("has names of one line, which are no options", () => {
    const longest = "x".repeat(MAXIMUM_NAME_LENGTH);
    for (const name of ["a", "a-b", "ä b", longest, "__proto__"]) {
      expect(check({ type: "map" }, JSON.parse(`{${JSON.stringify(name)}: 1}`))).toEqual([]);
    }
    for (const name of ["", "-a", "--set", "a\nb", "a\u0000", `${longest}x`]) {
      const [problem = ""] = check({ type: "values" }, { list: [{ [name]: 1 }] });
      expect(problem).toContain("has a name that is empty, begins with -");
    }
  });

  it("is not nested too deep, and refers to what exists at any depth", () => {
    expect(check({ type: "values" }, nest(MAXIMUM_DEPTH + 1))).toEqual([
      `/stacks/api/given${"/x".repeat(MAXIMUM_DEPTH)} is nested more than 10 deep.`,
    ]);
    const [problem = ""] = check({ type: "values" }, { a: [{ "b/c": "${env.HOME}" }] });
    expect(problem).toContain('/stacks/api/given/a/0/b~1c refers to "${env.HOME}"');
  });

  it("gets the values of references at any depth, and keeps the types of a module", () => {
    const value = {
      image: "${source.image}",
      list: ["${outputs.network.subnet}", 2, true, null],
      nested: { name: "${environment.name}/${stack.name}" },
    };
    expect(resolve({ type: "values" }, value)).toEqual({
      image: "shop:7",
      list: ["subnet-9", 2, true, null],
      nested: { name: "production/api" },
    });
    expect(resolve({ type: "map" }, { a: 1.5, b: false, c: "${source.image}" })).toEqual({
      a: "1.5",
      b: "false",
      c: "shop:7",
    });
    expect(resolve({ type: "boolean" }, false)).toBe(false);
  });

  it("has lines or a - at its start only where it is in a file", () => {
    expect(resolve({ type: "map" }, { a: "${variables.SECRET}" })).toEqual({ a: SECRET });
    expect(resolve({ type: "values" }, { a: ["${variables.SECRET}"] })).toEqual({ a: [SECRET] });
    const types: SettingType[] = ["text", "texts", "file", "folder", "path", "files"];
    for (const type of types) {
      const isList = type === "texts" || type === "files";
      const toValue = (text: string) => (isList ? [text] : text);
      const withLines = toValue("a${variables.SECRET}");
      expect(() => resolve({ type }, withLines)).toThrow("has a control character");
      const option = toValue("${variables.SECRET}");
      expect(() => resolve({ type }, option)).toThrow("would become an option");
      const isAccepted = check({ type }, toValue("--to")).length === 0;
      expect([type, isAccepted]).toEqual([type, type === "texts"]);
    }
    expect(() => resolve({ type: "map" }, { a: "a\u0000" })).toThrow("has a control character");
  });

  it("leads to a place in the repository, if it is a path", () => {
    const good = ["a", ".", "./a", "a/b", "a..", "..a/b", ".github/a", "a -b", "ab:c"];
    for (const path of good) {
      expect([path, check({ type: "file" }, path)]).toEqual([path, []]);
      expect(resolve({ type: "file" }, path)).toBe(path);
    }
    for (const path of ["..", "a/..", "a/../b", "a\\..", "/a", "\\a", "c:\\a", "", "-", "--help"]) {
      const reason = "must be the path of a file in the repository, without .. and without - at";
      expect(check({ type: "files" }, [path])[0]).toContain(`/stacks/api/given/0 ${reason}`);
      expect(() => resolve({ type: "file" }, path)).toThrow(`/stacks/api/given ${reason}`);
    }
  });

  it("has its form when it is written, unless it has references, and when they are replaced", () => {
    const form = { pattern: /^[a-z]+$/, description: "small letters" };
    const reason = "/stacks/api/given must be small letters.";
    expect(check({ type: "text", form }, "abc")).toEqual([]);
    expect(check({ type: "text", form }, "Abc")).toEqual([reason]);
    expect(check({ type: "texts", form }, ["a", "B", "-"])).toEqual(
      [1, 2].map((at) => reason.replace("given", `given/${at}`)),
    );
    expect(check({ type: "text", form }, "A${stack.name}")).toEqual([]);
    expect(resolve({ type: "text", form }, "x${stack.name}")).toBe("xapi");
    expect(() => resolve({ type: "text", form }, "A${stack.name}")).toThrow(reason);
    expect(check({ type: "text" }, "-x")).toEqual(["/stacks/api/given begins with -. Remove it."]);
  });

  it("has at most 16,384 bytes in each text", () => {
    const [longest, longer] = ["é".repeat(8_192), `${"é".repeat(8_192)}x`];
    for (const type of ["text", "map", "values"] as const) {
      const toValue = (text: string) => (type === "text" ? text : { a: text });
      expect(check({ type }, toValue(longest))).toEqual([]);
      expect(check({ type }, toValue(longer))[0]).toContain("has more than 16,384 bytes");
      expect(() => resolve({ type }, toValue(longer))).toThrow("has more than 16,384 bytes");
    }
  });

  it("may be only one of its choices after its reference is replaced, too", () => {
    const setting: Setting = { type: "text", choices: ["fast", "${variables.KIND}"] };
    expect(resolve(setting, "${variables.KIND}")).toBe("fast");
    const other: Setting = { type: "text", choices: ["slow", "${variables.KIND}"] };
    expect(() => resolve(other, "${variables.KIND}")).toThrow("must be one of: slow");
  });

  it("is part of at most 1 MiB", () => {
    const list = (count: number) => ({ a: Array(count).fill("${variables.LARGE}") });
    expect(resolve({ type: "values" }, list(65))).toBeDefined();
    expect(() => resolve({ type: "values" }, list(66))).toThrow("larger than 1,048,576 bytes");
  });

  it("of any value and type is refused with a line of text, or resolved", () => {
    const types: SettingType[] = ["boolean", "path", "text", "texts", "map", "values"];
    assert(
      property(anything(), (value) => {
        for (const type of types) {
          for (const problem of check({ type }, value)) expect(problem).toMatch(/^[^\p{Cc}]+$/u);
        }
      }),
    );
  });
});
