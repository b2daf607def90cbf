import { anything, assert, dictionary, oneof, property, string } from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CommandEnvironment } from "../../packages/runner/src/environment.ts";
import { EXECUTORS } from "../../packages/runner/src/executors/list.ts";
import { runPlan } from "../../packages/runner/src/executors/run-stack.ts";
import { planStacks } from "../../packages/runner/src/executors/stack-plans.ts";
import { findSettingsProblems } from "../../src/features/projects/environments/executor-settings.ts";
import { stackInput } from "./support/stack-input.ts";

/** What the API accepts as a message. */
const MAXIMUM_MESSAGE_LENGTH = 2_000;
const sha = "6dcb09b5b57875f334f61aebed695e2e4193db5e";
const git = { provider: "github", owner: "Acme", repo: "shop", ref: "main", commit: { sha } };
const repository = { name: "github:acme/shop", url: "file:///srv/shop.git" };
const options = { command: undefined, executors: EXECUTORS, repositories: [repository] };

const inputOf = (name: string, stacks: unknown) =>
  stackInput(name, { source: { git }, configuration: { stacks } });

const script = { executor: "script", path: "deploy.sh" };
const plan = (name: string, stacks: unknown) => planStacks([inputOf(name, stacks)], options);

describe("the plan of a deployment", () => {
  it("has the executor, the settings and the commit of a stack", () => {
    expect(plan("api", { api: script })).toEqual(
      new Map([
        [
          "1",
          {
            executor: EXECUTORS.find(({ name }) => name === "script"),
            settings: { pointer: "/stacks/api", values: script },
            commit: { repository, ref: "refs/heads/main", sha },
          },
        ],
      ]),
    );
  });

  it("refuses wrong settings in the words of the service, which checks them when they are written", () => {
    const wrong = { executor: "script", colour: "blue", arguments: [1] };
    const problems = findSettingsProblems({ stacks: { web: script, "a/b": wrong } });
    expect(problems).toHaveLength(3);
    expect(plan("a/b", { web: script, "a/b": wrong })).toEqual({
      outcome: "failed",
      failure_reason: "settings_refused",
      message: problems.join(" "),
    });
  });

  it("looks only at objects below `stacks` with a text `executor`", () => {
    const withCommand = { ...options, command: "true" };
    for (const stacks of [
      undefined,
      null,
      "x",
      [script],
      { api: "script" },
      { api: [script] },
      { web: script },
    ]) {
      expect(planStacks([inputOf("api", stacks)], withCommand)).toEqual(new Map());
    }
    for (const name of ["constructor", "__proto__", "toString"]) {
      expect(planStacks([inputOf(name, {})], withCommand)).toEqual(new Map());
    }
    for (const executor of [1, null, ["script"], { name: "script" }]) {
      expect(planStacks([inputOf("api", { api: { executor } })], withCommand)).toEqual(new Map());
    }
  });

  it("says in one line what is wrong, whatever names have", () => {
    const name = "a\n\u001b[31m/~b";
    expect(plan(name, { [name]: { executor: "none\u0085\n" } })).toEqual({
      outcome: "failed",
      failure_reason: "executor_missing",
      message:
        '/stacks/a\\n\\u001b[31m~1~0b/executor is "none \\n", which this runner does not run. It runs: ' +
        `${EXECUTORS.map((each) => each.name).join(", ")}. Its operator adds others with --executor.`,
    });
  });

  it("has settings of any size and type, or a message that the API accepts", () => {
    const large = { api: { ...script, ["x".repeat(1_048_576)]: "y".repeat(1_048_576) } };
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`👩‍🚀${at}`, at]));
    const name = oneof(string({ unit: "binary" }), string({ unit: "grapheme" }));
    const check = (stackName: string, settings: unknown) => {
      const planned = plan(stackName, { [stackName]: settings });
      if (planned instanceof Map) return;
      const { message = "" } = planned;
      expect(message).toMatch(/^[^\p{Cc}]+$/u);
      expect(message.isWellFormed()).toBe(true);
      expect(message.length).toBeLessThan(MAXIMUM_MESSAGE_LENGTH);
    };
    check("api", large.api);
    check("api", { ...script, ...many });
    assert(
      property(name, dictionary(name, anything()), (stackName, settings) => {
        check(stackName, { executor: "script", ...settings });
      }),
    );
  });
});

describe("a stack whose checkout cannot be written", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("fails, and says why", async () => {
    const input = inputOf("api", { api: script });
    const planned = planStacks([input], options);
    const found = planned instanceof Map ? planned.get("1") : undefined;
    expect(found).toBeDefined();
    vi.stubEnv("TMPDIR", "/nonexistent");
    const { signal } = new AbortController();
    const result = await runPlan(
      {
        plan: found,
        input,
        command: undefined,
        environment: new CommandEnvironment({}, { passed: [], allowed: [] }),
        variables: [],
        description: [],
        writeSettings: () => "",
      },
      { stop: signal, force: signal, graceMs: 0, onOutput: () => undefined },
    );
    expect(result).toEqual({
      ok: false,
      reason: "The checkout could not be written: ENOENT.",
    });
  });
});
