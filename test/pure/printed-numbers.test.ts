import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { toObjects } from "../../packages/executors/kubernetes/src/objects.ts";
import { reportOutputs as reportKubernetes } from "../../packages/executors/kubernetes/src/outputs.ts";
import { parsePrinted, Report, toPrinted } from "../../packages/executors/program/src/index.ts";
import {
  listResources,
  parseState,
  reportOutputs,
} from "../../packages/executors/terraform/src/state.ts";

const NUMBERS = [
  ...["0", "3", "-1.5", "1.10", "1e2", "1E+2", "-0", "1e999", "1e-400"],
  ...["12345678901234567890", "0.1000000000000000055", "9007199254740993"],
];

const folder = mkdtempSync(join(tmpdir(), "longshore-printed-"));
let reports = 0;

afterAll(() => rmSync(folder, { recursive: true }));

/** The outputs that a program reports, and the rest of its lines. */
function reported(write: (report: Report) => void): Record<string, string> {
  const path = join(folder, String(reports++));
  write(new Report(path));
  const lines = readFileSync(path, "utf8").trim().split("\n");
  const outputs = lines.map((line) => JSON.parse(line).output ?? {});
  return Object.fromEntries(outputs.map(({ name, value }) => [name, value]));
}

describe.each(NUMBERS)("the number %s of a tool", (number) => {
  it("keeps its digits, alone and within other values", () => {
    expect(toPrinted(parsePrinted(number))).toBe(number);
    const json = `{"a":[${number},"${number}"],"x${number}":{"b":-${number.replace("-", "")}}}`;
    expect(toPrinted(parsePrinted(json))).toBe(json);
    expect(toPrinted(parsePrinted(`"${number}"`))).toBe(number);
  });

  it("keeps them in the outputs of Terraform and the IDs of its resources", () => {
    const resource = { address: "a.b", mode: "managed", type: "a" };
    const state = parseState(
      `{"values":{"outputs":{"one":{"sensitive":false,"value":${number}},` +
        `"list":{"sensitive":false,"value":[${number},{"a":${number}}]}},"root_module":{"resources":` +
        `[${JSON.stringify(resource).replace("}", `,"values":{"id":${number}}}`)}]}}}`,
    );
    expect(reported((report) => reportOutputs(state, report))).toEqual({
      one: number,
      list: `[${number},{"a":${number}}]`,
    });
    expect(listResources(state, new Map())).toMatchObject([{ physical_id: number }]);
  });

  it("keeps them in the outputs of Kubernetes", () => {
    const printed = `{"items":[{"apiVersion":"v1","kind":"Thing","metadata":{"name":"a"},"spec":{"b":${number}}}]}`;
    const objects = toObjects(parsePrinted(printed));
    const references = new Map([["size", { object: "thing/a", pointer: "/spec/b" }]]);
    const outputs = reported((report) =>
      reportKubernetes(report, objects, { references, url: undefined }),
    );
    expect(outputs).toEqual({ size: number });
  });
});

describe("what a tool prints", () => {
  it("is otherwise what JSON says", () => {
    const value = { a: [1, 2.5, true, null, 'x"1e999', "\\", "1e999"], b: {} };
    expect(parsePrinted(JSON.stringify(value))).toEqual(value);
    expect(() => parsePrinted("{1e999}")).toThrow(SyntaxError);
  });
});
