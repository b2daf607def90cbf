import { anything, assert, dictionary, oneof, property, string } from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CommandEnvironment } from "../../packages/runner/src/environment.ts";
import { EXECUTORS } from "../../packages/runner/src/executors/list.ts";
import { runPlan } from "../../packages/runner/src/executors/run-stack.ts";
import { planStacks } from "../../packages/runner/src/executors/stack-plans.ts";
import { findSettingsProblems } from "../../src/features/projects/environments/executor-settings.ts";
import { stackInput } from "../programs/support/stack-input.ts";

/** What the API accepts as a message. */
const MAXIMUM_MESSAGE_LENGTH = 2_000;
const sha = "6dcb09b5b57875f334f61aebed695e2e4193db5e";
const git = { provider: "github", owner: "Acme", repo: "shop", ref: "main", commit: { sha } };
const repository = { name: "github:acme/shop", url: "file:///srv/shop.git" };
const options = { command: undefined, executors: EXECUTORS, repositories: [repository] };

/** What sends the state or credentials elsewhere, takes others, runs programs or lets others read. */
const ELSEWHERE = [
  ...["endpoints", "endpoint", "sts_endpoint", "iam_endpoint", "dynamodb_endpoint", "sso_endpoint"],
  ...["profile", "shared_credentials_files", "shared_config_files", "assume_role", "role_arn"],
  ...["assume_role_with_web_identity", "web_identity_token_file", "custom_ca_bundle", "insecure"],
  ...["http_proxy", "https_proxy", "ec2_metadata_service_endpoint", "skip_region_validation"],
  ...["use_path_style", "acl", "access_key", "secret_key", "token", "sse_customer_key"],
  ...["path", "workspace_dir", "address", "lock_address", "unlock_address", "update_method"],
  ...["exec", "host", "config_path", "config_paths", "cluster_ca_certificate", "proxy_url"],
  ...["metadata_host", "msi_endpoint", "oidc_request_url", "client_certificate_path"],
  ...["credentials", "impersonate_service_account", "access_token", "storage_custom_endpoint"],
  ...["conn_str", "hostname", "organization", "scheme", "ca_file", "cert_file", "__proto"],
];

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

  describe("for a backend of terraform", () => {
    const withBackend = (backend: object) => ({ site: { executor: "terraform", backend } });
    const refusal = (backend: object, backendMembers: string[] = []) => {
      const inputs = [inputOf("site", withBackend(backend))];
      const planned = planStacks(inputs, { ...options, backendMembers });
      return planned instanceof Map ? undefined : planned.message;
    };

    it("lets the configuration say where the state is in a store", () => {
      const stores = [
        { bucket: "acme-states", key: "a/b.tfstate", region: "eu-central-1", encrypt: true },
        { dynamodb_table: "locks", use_lockfile: true, workspace_key_prefix: "env" },
        { kms_key_id: "arn:aws:kms:eu-central-1:123456789012:key/1" },
        { bucket: "acme.states", prefix: "network/${environment.name}" },
        { resource_group_name: "states(eu)", storage_account_name: "acme", container_name: "tf" },
        { schema_name: "production" },
        { secret_suffix: "${environment.name}" },
      ];
      for (const each of stores) expect([each, refusal(each)]).toEqual([each, undefined]);
    });

    it.each(ELSEWHERE)("refuses %s, unless the operator allows it", (member) => {
      const backend = { key: "a", [member]: { s3: "https://example.com" } };
      const message = refusal(backend) ?? "";
      expect(message).toMatch(
        `/stacks/site/backend/${member} is no member that a configuration may`,
      );
      expect(message).toContain(`or ask the runner's operator for --backend-allow ${member}.`);
      expect(refusal(backend, [`${member}_`])).toBe(message);
      expect(refusal(backend, [member])).toBeUndefined();
      // The service does not know the operator's options.
      expect(findSettingsProblems({ stacks: withBackend(backend) })).toEqual([]);
    });

    it("refuses what would be another host in the requests of the backend, also to the service", () => {
      const members = ["bucket", "region", "storage_account_name", "container_name", "schema_name"];
      const texts = ["evil.example/x", "a?b", "a#b", "a@b", "a:1", "a\\b", "", "../a", ".a"];
      for (const member of members) {
        for (const text of texts) {
          const backend = { [member]: text };
          const message = `/stacks/site/backend/${member} must be`;
          expect(refusal(backend)).toContain(message);
          const [problem] = findSettingsProblems({ stacks: withBackend(backend) });
          expect(problem).toContain(message);
        }
      }
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
        hasLfs: false,
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
