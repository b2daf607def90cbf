import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { ModuleRun } from "../support/terraform/module-run.ts";

/**
 * `npm run test:terraform` runs these with the real program, and records its calls. `npm test` replays them.
 */
function prepare(context: TestContext, recording: string): ModuleRun {
  const run = new ModuleRun(recording);
  context.onTestFinished(() => run.end());
  return run;
}

const BACKEND = 'terraform {\n  backend "local" {}\n}\n';

const NAMES_AND_PASSWORD = `
variable "names" { type = set(string) }
variable "password" {
  type      = string
  sensitive = true
}
`;

// biome-ignore lint/suspicious/noTemplateCurlyInString: values are no templates.
const TEXT = "${not.a.reference}";

/** With a module that it calls, a data source, and a secret. */
const SHOP = `${BACKEND}${NAMES_AND_PASSWORD}
variable "version_tag" { type = string }
module "network" {
  source = "./network"
}
resource "terraform_data" "queue" {
  for_each = var.names
  input    = "\${module.network.name}-\${each.key}"
}
resource "terraform_data" "app" {
  input            = var.version_tag
  triggers_replace = var.password
}
data "terraform_remote_state" "other" {
  depends_on = [terraform_data.app]
  backend    = "local"
  config     = { path = "other.tfstate" }
}
output "url" { value = "https://shop.example.com" }
output "replicas" { value = 3 }
output "is_public" { value = true }
output "queues" { value = keys(terraform_data.queue) }
output "tag" { value = terraform_data.app.output }
output "nothing" { value = null }
output "lines" { value = "a\\nb" }
output "password" {
  value     = var.password
  sensitive = true
}
`;

const NETWORK = `
resource "terraform_data" "vpc" { input = "network" }
output "name" { value = terraform_data.vpc.output }
`;

const OTHER_STATE = '{"version":4,"serial":1,"lineage":"a","outputs":{},"resources":[]}';

const SLOW = (seconds: number) => `${BACKEND}
resource "terraform_data" "first" { input = 1 }
resource "terraform_data" "slow" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "sleep ${seconds}" }
}
resource "terraform_data" "last" { input = terraform_data.slow.id }
`;

const CREATED = ["CREATE_IN_PROGRESS", "CREATE_COMPLETE"];
const REPLACED = ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"];
const DELETED = ["DELETE_IN_PROGRESS", "DELETE_COMPLETE"];

describe("the executor terraform", () => {
  it("creates, changes, replaces and deletes, and reports what the state has", async (context) => {
    const run = prepare(context, "changes");
    run.write(SHOP, { "network/main.tf": NETWORK, "other.tfstate": OTHER_STATE });
    const variables = { names: ["in", "b\nc"], password: "hunter2-hunter2", version_tag: TEXT };
    const created = await run.deploy(run.settings(variables));
    const queue = (name: string) => `terraform_data.queue[${JSON.stringify(name)}]`;
    const [app, vpc] = ["terraform_data.app", "module.network.terraform_data.vpc"];
    expect(created).toMatchObject({ code: 0, reason: undefined });
    expect(created.changes).toEqual({
      [app]: CREATED,
      [vpc]: CREATED,
      [queue("in")]: CREATED,
      [queue("b\nc")]: CREATED,
    });
    const all = [app, queue("b\nc"), queue("in"), vpc];
    const complete = Object.fromEntries(all.map((each) => [each, "CREATE_COMPLETE"]));
    expect(created.resources).toEqual(complete);
    expect(Object.values(created.ids).toSorted()).toEqual(["#1", "#2", "#3", "#4"]);
    expect(created.outputs).toEqual({
      url: "https://shop.example.com",
      replicas: "3",
      is_public: "true",
      queues: '["b\\nc","in"]',
      tag: TEXT,
    });
    // The plan is in the log before the first change.
    expect(created.log).toMatch(/Plan: 4 to add, 0 to change, 0 to destroy\..*: Creating\.\.\./s);
    expect(created.log).toContain("The output lines is not reported: it has control characters.");
    expect(created.log).not.toContain("hunter2");

    const same = await run.deploy(run.settings(variables));
    expect(same).toMatchObject({ code: 0, changes: {}, resources: complete });
    expect(same).toMatchObject({ outputs: created.outputs, ids: created.ids });
    expect(same.log).toContain("No changes.");

    const changed = await run.deploy(
      run.settings({ ...variables, names: ["in"], version_tag: "2", password: "another-secret" }),
    );
    expect(changed.changes[app]?.filter((each) => each !== "UPDATE_IN_PROGRESS")).toEqual([
      "UPDATE_COMPLETE",
    ]);
    expect(changed.changes[queue("b\nc")]).toEqual(DELETED);
    expect(changed.resources).toEqual({
      [app]: "UPDATE_COMPLETE",
      [vpc]: "CREATE_COMPLETE",
      [queue("in")]: "CREATE_COMPLETE",
      [queue("b\nc")]: "DELETE_COMPLETE",
    });
    expect([changed.ids[app], changed.ids[vpc]]).toEqual(["#5", created.ids[vpc]]);
    expect(changed.outputs).toMatchObject({ tag: "2", queues: '["in"]' });

    const updated = await run.deploy(
      run.settings({ names: ["in"], version_tag: "3", password: "another-secret" }),
    );
    expect(updated.changes).toEqual({ [app]: REPLACED });
    expect(updated.ids).toMatchObject({ [app]: "#5" });

    run.write(`${BACKEND}${NAMES_AND_PASSWORD}`);
    const removed = await run.deploy(run.settings({ names: ["in"], password: "another-secret" }));
    expect(removed).toMatchObject({ code: 0, outputs: {} });
    expect(removed.changes).toEqual({ [app]: DELETED, [vpc]: DELETED, [queue("in")]: DELETED });
  });

  it("destroys everything if it is told to, and says what failed", async (context) => {
    const run = prepare(context, "destroys");
    const broken = `${BACKEND}
resource "terraform_data" "good" { input = 1 }
resource "terraform_data" "bad" {
  provisioner "local-exec" { command = "echo no space left; exit 7" }
}
`;
    run.write(broken);
    const failed = await run.deploy(run.settings());
    expect(failed).toMatchObject({
      code: 1,
      resources: {
        "terraform_data.bad": "CREATE_FAILED",
        "terraform_data.good": "CREATE_COMPLETE",
      },
    });
    expect(failed.reason).toContain(
      "terraform apply: terraform_data.bad: local-exec provisioner error: Error running command 'echo no space left; exit 7'",
    );
    expect(failed.log).toContain("(local-exec): no space left");

    run.write(broken.replace("exit 7", "exit 0"));
    const mended = await run.deploy(run.settings());
    expect(mended).toMatchObject({
      code: 0,
      resources: { "terraform_data.bad": "UPDATE_COMPLETE" },
    });
    expect(mended.ids["terraform_data.bad"]).not.toBe(failed.ids["terraform_data.bad"]);

    const destroyed = await run.deploy(run.settings({}, { destroy: true }));
    expect(destroyed).toMatchObject({
      code: 0,
      resources: {
        "terraform_data.bad": "DELETE_COMPLETE",
        "terraform_data.good": "DELETE_COMPLETE",
      },
    });
    const again = await run.deploy(run.settings({}, { destroy: true }));
    expect(again).toMatchObject({ code: 0, changes: {}, resources: {}, outputs: {} });
  });

  it("ends an apply with one SIGINT, and reports what there is", async (context) => {
    const run = prepare(context, "canceled");
    run.write(SLOW(600));
    const started = run.start(run.settings());
    await started.waitFor("slow: (local-exec): Executing");
    started.stop();
    started.stop();
    const canceled = await started.ended;
    expect(canceled).toMatchObject({
      code: 1,
      reason: "terraform apply was stopped.",
      resources: {
        "terraform_data.first": "CREATE_COMPLETE",
        "terraform_data.slow": "CREATE_FAILED",
      },
    });
    expect(canceled.log).toContain("Gracefully shutting down...");
    expect(canceled.log).not.toContain("Two interrupts received");

    run.write(SLOW(0));
    const next = await run.deploy(run.settings());
    expect(next).toMatchObject({ code: 0, changes: { "terraform_data.last": CREATED } });
    expect(next.resources).toEqual({
      "terraform_data.first": "CREATE_COMPLETE",
      "terraform_data.slow": "UPDATE_COMPLETE",
      "terraform_data.last": "CREATE_COMPLETE",
    });
  });

  it("goes on with what a killed run has left", async (context) => {
    const run = prepare(context, "killed");
    run.write(SLOW(600));
    const started = run.start(run.settings());
    await started.waitFor("slow: (local-exec): Executing");
    started.kill();
    expect(await started.ended).toMatchObject({
      code: null,
      resources: undefined,
      changes: { "terraform_data.first": CREATED, "terraform_data.slow": ["CREATE_IN_PROGRESS"] },
    });
    run.write(SLOW(0));
    const next = await run.deploy(run.settings());
    expect(next.code).toBe(0);
    expect(Object.keys(next.resources ?? {}).toSorted()).toEqual([
      "terraform_data.first",
      "terraform_data.last",
      "terraform_data.slow",
    ]);
  });

  it("waits for the lock of the state, and says who holds it", async (context) => {
    const run = prepare(context, "locked");
    run.write(SLOW(12));
    const settings = run.settings();
    const ended = await run.applyElsewhere(settings, []);
    const refused = await run.deploy({ ...settings, lock_timeout: "1s" });
    const holder =
      /The state is locked by \S+@\S+ for apply, since 2\d{3}-\S+ .* \(lock \S{36}\)\./;
    expect(refused).toMatchObject({ code: 1, changes: {}, resources: undefined });
    expect(refused.reason).toMatch(holder);
    expect(refused.reason).toContain("release it with terraform force-unlock, and deploy again.");

    const canceled = run.start(settings);
    // Before that, the program has not started, or does not know the signal.
    await canceled.waitFor("Acquiring state lock.");
    canceled.stop();
    expect(await canceled.ended).toMatchObject({
      code: 1,
      reason: "terraform plan was stopped before anything changed.",
    });

    const waited = await run.deploy(settings);
    await ended();
    expect(waited).toMatchObject({ code: 0, changes: {} });
    expect(waited.log).toMatch(holder);
    expect(waited.log).toContain("No changes.");
    expect(Object.values(waited.resources ?? {})).toEqual(Array(3).fill("CREATE_COMPLETE"));
  });

  it("has a state for each workspace, whichever the runner's TF_WORKSPACE names", async (context) => {
    const run = prepare(context, "workspaces");
    run.write(`${BACKEND}output "name" { value = terraform.workspace }\n`);
    const backend = { path: `${run.root}/state/app.tfstate`, workspace_dir: `${run.root}/state` };
    for (const workspace of ["staging", "production.2", "staging"]) {
      const deployed = await run.deploy({ backend, workspace }, { TF_WORKSPACE: "another" });
      expect(deployed).toMatchObject({ code: 0, outputs: { name: workspace } });
    }
  });

  it("plans nothing while the state would be in the checkout", async (context) => {
    const run = prepare(context, "lost-state");
    const resource = 'resource "terraform_data" "app" {}\n';
    const inside = "The state would be in the checkout, which is removed after the deployment.";
    run.write(resource);
    expect((await run.deploy({})).reason).toContain(inside);
    run.write(`${BACKEND}${resource}`);
    for (const path of ["state.tfstate", `${run.root}/module/a/b.tfstate`]) {
      const { reason, code } = await run.deploy({ backend: { path } });
      expect([code, reason]).toEqual([1, expect.stringContaining("set path of its local backend")]);
    }
    const settings = { ...run.settings(), workspace: "staging" };
    const { reason, resources } = await run.deploy(settings);
    expect(reason).toContain("set workspace_dir of its local backend");
    expect(resources).toBeUndefined();
  });

  it("says why there is no plan", async (context) => {
    const run = prepare(context, "no-plan");
    run.write(`${BACKEND}variable "replicas" { type = number }\n`);
    const missing = await run.deploy(run.settings());
    expect(missing).toMatchObject({ code: 1, resources: undefined });
    expect(missing.reason).toBe(
      "terraform plan: No value for required variable. The log says more.",
    );
    expect(missing.log).toContain('"replicas"');
    run.write(`${BACKEND}resource "terraform_data" {`);
    const invalid = await run.deploy(run.settings());
    expect(invalid.reason).toMatch(/^terraform init: \S/);
  });

  /** deploy-with.test.ts replays it, too, with the commands of the page. */
  it("deploys the module of the examples, another version, and the first one again", async (context) => {
    const run = prepare(context, "page");
    const module = readFileSync(join(ROOT, "examples/terraform/main.tf"), "utf8");
    const backend = { path: join(run.root, "state/production.tfstate") };
    for (const word of ["Hello", "Ahoy", "Hello"]) {
      run.write(module.replace("Hello", word));
      const deployed = await run.deploy({ variables: { environment: "production" }, backend });
      const outputs = { page: `<h1>${word}</h1> from production` };
      expect(deployed).toMatchObject({ code: 0, outputs, ids: { "terraform_data.page": "#1" } });
    }
  });
});
