import { describe, expect, it } from "vitest";
import {
  LineError,
  parseReportLine,
  REPORT_LIMITS,
  REPORTED_RESOURCE_STATUSES,
} from "../../packages/runner/src/report-lines.ts";
import { ReportedState } from "../../packages/runner/src/reported-state.ts";
import { RESOURCE_STATUSES } from "../../src/features/deployments/resources/model.ts";
import { StackReport } from "../../src/features/deployments/runner-api/report-schemas.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { isSafeUrl } from "../../src/lib/safe-url.ts";

const parse = (line: unknown) => parseReportLine(Buffer.from(JSON.stringify(line)));
const RESOURCE = {
  template_id: "a",
  physical_id: "",
  resource_type: "T",
  status: RESOURCE_STATUSES[0],
};

function stateAfter(...lines: readonly object[]) {
  const state = new ReportedState((text) => text);
  for (const each of lines) {
    const line = parse(each);
    if (line) state.apply(line);
  }
  return state;
}

const apply = (...lines: readonly object[]) => stateAfter(...lines).toReport();

const isAccepted = (line: object) => {
  try {
    apply(line);
    return true;
  } catch (error) {
    if (error instanceof LineError) return false;
    throw error;
  }
};

const acceptsResource = (resource: object) =>
  StackReport.safeParse({ seq: 1, status: "in_progress", resources: [resource] }).success;

const acceptsOutput = (output: object) =>
  StackReport.safeParse({ seq: 1, status: "in_progress", outputs: [output] }).success;

describe("a line of a report", () => {
  it("has the limits of the API", () => {
    expect(REPORT_LIMITS).toEqual({
      resources: LIMITS.reportedResources.value,
      resourceNameLength: LIMITS.resourceNameLength.value,
      physicalIdLength: LIMITS.physicalIdLength.value,
      statusReasonLength: LIMITS.statusReasonLength.value,
      outputs: LIMITS.stackOutputs.value,
      outputNameLength: LIMITS.outputNameLength.value,
      outputBytes: LIMITS.outputBytes.value,
    });
    expect([...REPORTED_RESOURCE_STATUSES].toSorted()).toEqual([...RESOURCE_STATUSES].toSorted());
  });

  it.each([
    { template_id: "x".repeat(255) },
    { template_id: "x".repeat(256) },
    { template_id: " " },
    { template_id: "a\nb" },
    { template_id: "a\u0085" },
    { template_id: "\ud800" },
    { template_id: 1 },
    { physical_id: "x".repeat(2_048) },
    { physical_id: "x".repeat(2_049) },
    { physical_id: "\0" },
    { resource_type: "" },
    { status: "DONE" },
    { status: null },
    { status_reason: "x".repeat(2_000) },
    { status_reason: `\t${"x".repeat(2_000)}` },
    { status_reason: "a\r\n\tb" },
    { status_reason: "\u001b[31m" },
    { timestamp: "2026-11-21T09:30:00Z" },
    { timestamp: "2026-11-21T09:30:00.123456+02:00" },
    { timestamp: "2026-02-30T09:30:00Z" },
    { timestamp: "2026-11-21T24:00:00Z" },
    { timestamp: "2026-11-21T09:30Z" },
    { timestamp: "2026-11-21" },
    { timestamp: 1 },
    { unknown: 1 },
  ])("with a resource is accepted exactly if the API accepts it: %j", (fields) => {
    const resource = { ...RESOURCE, ...fields };
    expect(isAccepted({ resource })).toBe(acceptsResource(resource));
    expect(isAccepted({ resources: [resource] })).toBe(acceptsResource(resource));
  });

  it.each([
    { name: "a", value: "" },
    { name: "a".repeat(100), value: "1" },
    { name: "a".repeat(101), value: "1" },
    { name: "", value: "1" },
    { name: "a b", value: "1" },
    { name: "a\n", value: "1" },
    { name: "__proto__", value: "1" },
    { name: "a", value: "é".repeat(1_024) },
    { name: "a", value: "é".repeat(1_025) },
    { name: "a", value: "a\nb" },
    { name: "a", value: "\udc00" },
    { name: "a", value: 1 },
    { name: "a" },
    { name: "a", value: "1", secret: true },
  ])("with an output is accepted exactly if the API accepts it: %j", (output) => {
    expect(isAccepted({ output })).toBe(acceptsOutput(output));
  });

  it.each([
    [[], "The line must be an object."],
    [null, "The line must be an object."],
    [{}, "Write one member in each line."],
    [{ output: { name: "a", value: "1" }, resources: [] }, "Write one member in each line."],
    [{ unknown: 1 }, "Write resource, resources, output or status_reason."],
    [{ resources: {} }, "resources must be an array."],
    [{ resources: [RESOURCE, 1] }, "resources.1 must be an object."],
    [{ resource: [] }, "resource must be an object."],
    [{ status_reason: 1 }, "status_reason must be a text."],
    [{ status_reason: "x".repeat(2_001) }, "status_reason must have at most 2000 characters."],
  ])("is refused with a reason: %j", (line, reason) => {
    expect(() => parse(line)).toThrow(new LineError(reason));
  });

  it("may be empty, and begin with a mark of its encoding", () => {
    expect(parseReportLine(Buffer.from(" \r"))).toBe(undefined);
    const line = Buffer.from('\ufeff{"status_reason":"a"}\r');
    expect(parseReportLine(line)).toEqual({ status_reason: "a" });
  });
});

describe("the lines of a report together", () => {
  const change = (template_id: string, fields: object = {}) => ({
    resource: { template_id, status: "UPDATE_COMPLETE", ...fields },
  });

  it("replace a resource, which keeps its type and its ID, but not its reason", () => {
    const reason = { status_reason: "No.", physical_id: "1", resource_type: "T" };
    const { changed_resources } = apply(change("a", reason), change("b"), change("a"));
    expect(changed_resources).toEqual([
      { template_id: "a", status: "UPDATE_COMPLETE", physical_id: "1", resource_type: "T" },
      { template_id: "b", status: "UPDATE_COMPLETE", physical_id: "", resource_type: "Resource" },
    ]);
  });

  it("replace all resources with `resources`, of which a later one wins", () => {
    const { resources } = apply(change("a", { physical_id: "1" }), change("b"), {
      resources: [
        change("c").resource,
        change("a").resource,
        change("c", { physical_id: "2" }).resource,
      ],
    });
    expect(resources?.map((each) => [each.template_id, each.physical_id])).toEqual([
      ["c", "2"],
      ["a", "1"],
    ]);
    expect(apply({ resources: [] })).toEqual({ resources: [] });
    const output = { name: "__proto__", value: "1" };
    expect(apply({ output })).toEqual({ outputs: [output] });
  });

  it("have at most 500 resources, of which a deleted one makes room", () => {
    const changes = Array.from({ length: 500 }, (_, at) => change(`r${at}`));
    const all = { resources: changes.map(({ resource }) => resource) };
    const tooMany = "A stack has at most 500 resources.";
    expect(apply(all, change("r0")).resources).toHaveLength(500);
    expect(() => apply(all, change("more"))).toThrow(tooMany);
    expect(() => apply(...changes, change("more"))).toThrow(tooMany);
    const deleted = change("r7", { status: "DELETE_COMPLETE" });
    const { resources } = apply(all, deleted, change("more"));
    expect(resources).toHaveLength(500);
    expect(resources?.map(({ template_id }) => template_id)).not.toContain("r7");
    expect(apply(...changes, deleted, change("more")).changed_resources).toHaveLength(500);
    const { resource: more } = change("more");
    expect(() => apply({ resources: [...all.resources, more] })).toThrow(tooMany);
  });

  it("are sent as what has changed, once, until one line has all", () => {
    const state = stateAfter(change("a"), change("b"));
    const sentBy = (each = state) => {
      const report = each.toReport();
      each.setSent(report);
      return [report.resources, report.changed_resources].map((list) =>
        list?.map(({ template_id }) => template_id),
      );
    };
    const first = state.toReport();
    state.apply(change("a", { status: "UPDATE_FAILED" }));
    // The server has the earlier one of `a`.
    state.setSent(first);
    expect(state.toReport().changed_resources).toMatchObject([{ status: "UPDATE_FAILED" }]);
    expect(sentBy()).toEqual([undefined, ["a"]]);
    expect(sentBy()).toEqual([undefined, undefined]);
    state.apply({ resources: [change("c").resource] });
    state.apply(change("d"));
    expect(sentBy()).toEqual([["c", "d"], undefined]);
    expect(sentBy()).toEqual([["c", "d"], undefined]);
  });

  it("are sent in several reports if more than 500 have changed, and those that were deleted, too", () => {
    const deleted = Array.from({ length: 500 }, (_, at) =>
      change(`old${at}`, { status: "DELETE_COMPLETE" }),
    );
    const created = Array.from({ length: 500 }, (_, at) => change(`new${at}`));
    const state = stateAfter(...deleted, ...created, change("last", { status: "DELETE_COMPLETE" }));
    const sent = new Set<string>();
    const counts: number[] = [];
    for (const isBeyond of [true, true, false]) {
      expect(state.exceedsReport).toBe(isBeyond);
      const report = state.toReport();
      for (const { template_id } of report.changed_resources ?? []) sent.add(template_id);
      counts.push(report.changed_resources?.length ?? 0);
      state.setSent(report);
    }
    expect(counts).toEqual([500, 500, 1]);
    expect(sent.size).toBe(1_001);
    expect(state.toReport()).toEqual({});
  });

  it("have at most 50 outputs, of which a later one wins", () => {
    const output = (name: string, value = "1") => ({ output: { name, value } });
    const all = Array.from({ length: 50 }, (_, at) => output(`o${at}`));
    expect(apply(...all, output("o0", "2")).outputs).toHaveLength(50);
    expect(apply(...all, output("o0", "2")).outputs?.[0]).toEqual({ name: "o0", value: "2" });
    expect(() => apply(...all, output("more"))).toThrow("A stack has at most 50 outputs.");
  });

  it.each([
    ["https://shop.example.com/?a=1#b", true],
    ["http://localhost:8080", true],
    ["HTTPS://EXAMPLE.COM", true],
    ["https://mona@example.com", false],
    ["https://:secret@example.com", false],
    ["javascript:alert(1)", false],
    ["java\tscript:alert(1)", false],
    [" https://example.com", false],
    ["https://exa mple.com", false],
    ["//example.com", false],
    ["ftp://example.com", false],
    ["", false],
  ])("have a URL that people may follow: %j", (text, isSafe) => {
    expect(isSafeUrl(text)).toBe(isSafe);
    expect(isAccepted({ output: { name: "url", value: text } })).toBe(isSafe);
    expect(isAccepted({ output: { name: "URL", value: text } })).toBe(!text.includes("\t"));
  });
});
