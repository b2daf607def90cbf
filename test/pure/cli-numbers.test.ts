import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readInputs } from "../../packages/action/src/inputs.ts";
import { buildPatch, parseAssignment } from "../../packages/cli/src/deployments/set-patch.ts";
import { parseField } from "../../packages/cli/src/request-fields.ts";
import { CliUser } from "../programs/support/cli.ts";

/** A double is another number. */
const INEXACT = [
  ...["1e999", "-1e999", "7e10432", "1e-400", "12345678901234567890", "9007199254740993"],
  ...["0.1000000000000000055", "123456789012345678901234567890.5"],
];
/** The same number in other digits. */
const REWRITTEN = ["1.10", "1e2", "1E2", "0.10", "1.0", "-0", "100000000000000000000000"];
const EXACT = ["0", "3", "-3", "1.5", "0.1", "1e+21", "1e-7", "9007199254740992"];

const user = new CliUser();

afterAll(() => user.remove());

function valueGiven(text: string, option: "--set" | "--set-string" | "--set-json" = "--set") {
  const [operation] = buildPatch({}, [], [parseAssignment(`a=${text}`, option)]);
  return operation && "value" in operation ? operation.value : undefined;
}

describe("the value of --set", () => {
  it.each(EXACT)("is the number %s", (text) => {
    expect(valueGiven(text)).toBe(Number(text));
  });

  it.each([...INEXACT, ...REWRITTEN])("is the text %s", (text) => {
    expect(valueGiven(text)).toBe(text);
  });

  it.each([
    ["true", true],
    ["null", null],
    ['"1.10"', "1.10"],
    ["[1.10]", [1.1]],
    ['{"b":["1e999"]}', { b: ["1e999"] }],
    ["", ""],
    ["1.2.3", "1.2.3"],
    ["01", "01"],
    [" 1", " 1"],
  ])("%s is %j", (text, value) => {
    expect(valueGiven(text)).toEqual(value);
  });

  it.each(INEXACT)("is refused if a list has the number %s", (number) => {
    expect(() => valueGiven(`["x",{"b":${number}}]`)).toThrow(
      `--set a has the number ${number}, which would change when it is stored. Write it as a string: "${number}".`,
    );
  });
});

describe("--set-string and --set-json", () => {
  it.each([...EXACT, ...INEXACT, "true", "null", "{}", '"x"', ""])("take %j as text", (text) => {
    expect(valueGiven(text, "--set-string")).toBe(text);
  });

  it.each([...EXACT, ...REWRITTEN, "true", "null", '{"a":[1]}', '"x"'])(
    "take %s as JSON",
    (text) => {
      expect(valueGiven(text, "--set-json")).toEqual(JSON.parse(text));
    },
  );

  it.each(INEXACT)("refuse %s as JSON", (text) => {
    expect(() => valueGiven(text, "--set-json")).toThrow(`--set-json a has the number ${text}`);
  });

  it("refuse a text as JSON, and name themselves", () => {
    expect(() => valueGiven("x", "--set-json")).toThrow(
      "--set-json a needs a JSON value, such as 3",
    );
    expect(() => parseAssignment("x", "--set-string")).toThrow("Write --set-string as path=value");
    const nested = [parseAssignment("a=1"), parseAssignment("a.b=1", "--set-string")];
    expect(() => buildPatch({}, [], nested)).toThrow("--set-string a.b: a is 1");
  });
});

/** Every way in which the command line and the action take JSON from their users. */
const TAKERS: Record<string, (json: string) => Promise<string> | string> = {
  "deploy --patch": (json) => runWith(json, ["deploy", "--patch", "input.json"]),
  "deploy --patch -": (json) => runWith(json, ["deploy", "--patch", "-"]),
  "deploy --source": (json) => runWith(json, ["deploy", "--source", "input.json"]),
  "configuration set": (json) => runWith(json, ["configuration", "set", "input.json", "--yes"]),
  "configuration diff": (json) => runWith(json, ["configuration", "diff", "input.json"]),
  "api x:=": (json) => messageOf(() => parseField(`x:=${json}`)),
  "the input patch": (json) =>
    messageOf(() =>
      readInputs({ INPUT_URL: "https://a.example.com", INPUT_ENVIRONMENT: "b", INPUT_PATCH: json }),
    ),
};

async function runWith(json: string, args: string[]): Promise<string> {
  writeFileSync(join(user.folder, "input.json"), json);
  return (await user.run(args, { input: json })).stderr;
}

function messageOf(read: () => unknown): string {
  try {
    read();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe.each(Object.entries(TAKERS))("%s", (name, take) => {
  const wrap = (number: string) => {
    const operation = `{"op":"add","path":"/1e999","value":[${number}]}`;
    return /patch/.test(name) ? `[${operation}]` : operation;
  };

  it.each(INEXACT)("refuses %s, and names it", async (number) => {
    expect(await take(wrap(number))).toContain(
      `has the number ${number}, which would change when it is stored. Write it as a string: "${number}".`,
    );
  });

  it.each([...EXACT, ...REWRITTEN, '"1e999"', '"\\"1e999"'])("takes %s", async (number) => {
    expect(await take(wrap(number))).not.toContain("would change");
  });
});
