import { describe, expect, it } from "vitest";
import type { Caller } from "../../bench/neighbour/caller.ts";
import { newRequests } from "../../bench/neighbour/requests.ts";
import { PARAMETERS, type Target } from "../../bench/neighbour/target.ts";
import { LIMITS } from "../../src/lib/limits.ts";

const ids = Object.fromEntries(PARAMETERS.map((name) => [name, `the ${name}`]));
const environmentIds = Array.from({ length: 500 }, (_, at) => `ordered ${at}`);
const runner = {
  runner: {} as Caller,
  attemptPath: "/v1/runner/attempts/first",
  headers: {},
  environmentId: "runner's environment",
  componentId: "runner's component",
  stackId: "runner's stack",
  deploymentId: "runner's deployment",
  resource: { id: "resource", stackId: "other stack" },
};
const target: Target = {
  ids: ids as Target["ids"],
  other: { projectId: "other project", environmentId: "other", componentId: "other component" },
  ordered: { projectId: "ordered project", environmentIds },
  runners: [runner],
};

describe("npm run bench -- neighbour", () => {
  it("fills the path of every operation that it sends, with valid large bodies", async () => {
    const requests = newRequests(target);
    const sent = new Map<string, { path: string; body: string }>();
    // Two operations may end what one creates.
    const created = requests.filter(({ creates }) => creates);
    for (const { operation, send } of [...created, ...requests]) {
      const caller = {
        sendText: async (_: string, path: string, body = "") => {
          sent.set(operation.operationId, { path, body });
          return { status: 201, body: { id: `made by ${operation.operationId}` } };
        },
      };
      await send(caller as unknown as Caller);
    }
    expect(sent.size).toBe(requests.length);
    const paths = [...sent.values()].map(({ path }) => path);
    expect(paths.filter((path) => /[{}]|undefined/.test(path))).toEqual([]);
    expect(sent.get("deleteFreeze")?.path).toMatch(
      /^\/v1\/freezes\/made by create(Project)?Freeze$/,
    );
    expect(sent.get("deleteStack")?.path).toBe("/v1/stacks/made by createStack");
    expect(sent.get("compareEnvironments")?.path).toMatch(/\?with=other$/);
    const lengths = [...sent.values()].map(({ body }) => body.length);
    expect(Math.max(...lengths)).toBeGreaterThan(LIMITS.bodyBytes.value / 2);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(LIMITS.bodyBytes.value);
  });
});
