import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { RunnerFixture } from "../support/fixture.ts";

/** A script of a deployment, as bash runs it; bash reads `$BASH_ENV` first. */
const DEPLOYS = "bash -c :";
const SUCCEEDED = { status: "succeeded", stacks: ["succeeded", "succeeded"] };
const CREDENTIAL = "canary-of-the-cloud-credential";
const PRINTS_ENVIRONMENT = "env >> environment";
/** Records the environment of the process and of its ancestors, and their arguments. */
const STEALS = `
env >> stolen
process=$$
while [ "$process" -gt 1 ]; do
  tr '\\0' '\\n' < "/proc/$process/environ" >> stolen
  tr '\\0' '\\n' < "/proc/$process/cmdline" >> stolen
  process=$(sed -n 's/^PPid:\\t//p' "/proc/$process/status")
done
`;

const fixture = RunnerFixture.use();

/** A script that a contributor could write to the repository that the runner deploys. */
function writeScript(context: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "longshore-script-"));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "script.sh");
  writeFileSync(path, content);
  return path;
}

describe.concurrent("the variables of a deployment", () => {
  it("run nothing when one is BASH_ENV: the deployment fails, and says what to do", async (context) => {
    const { project, runWith } = await fixture.prepare(context);
    const script = writeScript(context, STEALS);
    await project.setVariables({ HOME: "/canary", BASH_ENV: script, DATABASE_URL: "postgres://" });
    const { id } = await project.deploy();
    const runner = runWith({ AWS_SECRET_ACCESS_KEY: CREDENTIAL }, DEPLOYS, "--once");
    const exitCode = await runner.exited;
    expect(runner.read("stolen").filter((line) => /lsr_|canary/.test(line))).toEqual([]);
    expect(runner.read("stolen")).toEqual([]);
    expect(runner.runs).toEqual([]);
    expect(exitCode).toBe(1);
    const reason = "skipped: Refused variables: BASH_ENV, HOME. The log says what to do.";
    const stacks = [reason, reason];
    expect(await project.waitForEnd(id)).toEqual({ status: "failed", stacks });
    expect(await fixture.failureReason(id)).toBe("variable_refused");
    const explanation =
      "Refused variables: BASH_ENV (shell), HOME. Such a name changes how programs load or run, or " +
      "replaces what the runner sets. Rename or delete the variable, or start the runner with " +
      "--allow-variable NAME for each, or with --allow-variables shell.\n";
    expect(runner.output.split(explanation)).toHaveLength(2);
    expect(await fixture.log(id)).toBe(explanation);
    expect(runner.output).toContain(`Deployment ${id}: failed with variable_refused.`);
    expect(runner.output).not.toContain(script);
  });

  it("contain no runner token when --allow-variable admits BASH_ENV, nor does any argument", async (context) => {
    const { project, runWith } = await fixture.prepare(context);
    await project.setVariables({ BASH_ENV: writeScript(context, STEALS) });
    const { id } = await project.deploy();
    const flags = ["--once", "--allow-variable", "BASH_ENV"];
    const runner = runWith({}, DEPLOYS, ...flags);
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    const stolen = runner.read("stolen");
    expect(stolen.filter((line) => line.includes("lsr_"))).toEqual([]);
    // The script has read the command's environment, and the runner's environment and arguments.
    expect(stolen).toContain("GREETING=good 'morning'");
    expect(stolen).toContain(`TMPDIR=${runner.folder}`);
    expect(stolen).toContain("--allow-variable");
  });

  it("are accepted if --allow-variables names their class, and no other", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const stack_ids = project.stackIds.slice(0, 1);
    const flags = ["--once", "--allow-variables", "kubernetes", "--allow-variables", "docker"];
    await project.setVariables({ KUBECONFIG: "/kube", DOCKER_HOST: "ssh://web-1" });
    await project.deploy({ stack_ids });
    const runner = run(PRINTS_ENVIRONMENT, ...flags);
    expect(await runner.exited).toBe(0);
    const environment = runner.read("environment");
    expect(environment).toEqual(
      expect.arrayContaining(["KUBECONFIG=/kube", "DOCKER_HOST=ssh://web-1"]),
    );
    await project.setVariables({ NODE_OPTIONS: "--title=canary" });
    const { id } = await project.deploy({ stack_ids });
    expect(await run(PRINTS_ENVIRONMENT, ...flags).exited).toBe(1);
    const stacks = ["skipped: Refused variables: NODE_OPTIONS. The log says what to do."];
    expect(await project.waitForEnd(id)).toEqual({ status: "failed", stacks });
  });

  it("reach the command, beside a few names of the runner and those of --pass-env", async (context) => {
    const { project, runWith } = await fixture.prepare(context);
    await project.setVariables({ DATABASE_URL: "postgres://app@db", NODE_ENV: "production" });
    await project.deploy({ stack_ids: project.stackIds.slice(0, 1) });
    const runner = runWith(
      {
        AWS_ACCESS_KEY_ID: "AKIA",
        AWS_SECRET_ACCESS_KEY: CREDENTIAL,
        BASH_ENV: "/nowhere",
        HTTPS_PROXY: "http://proxy:3128",
        LC_TIME: "C",
        LONGSHORE_API_KEY: "lsh_canary",
      },
      PRINTS_ENVIRONMENT,
      ...["--once", "--pass-env", "AWS_ACCESS_KEY_ID", "--pass-env", "HTTPS_PROXY"],
    );
    expect(await runner.exited).toBe(0);
    const lines = runner.read("environment");
    expect(lines).toEqual(
      expect.arrayContaining([
        "AWS_ACCESS_KEY_ID=AKIA",
        "HTTPS_PROXY=http://proxy:3128",
        "LC_TIME=C",
        `PATH=${process.env["PATH"]}`,
        "DATABASE_URL=postgres://app@db",
        "NODE_ENV=production",
        "GREETING=good 'morning'",
        `LONGSHORE_STACK=${project.stackIds[0]}`,
      ]),
    );
    const names = lines.map((line) => line.slice(0, line.indexOf("=")));
    for (const absent of ["AWS_SECRET_ACCESS_KEY", "BASH_ENV", "LONGSHORE_API_KEY", "VITEST"]) {
      expect(names).not.toContain(absent);
    }
  });

  it("are those of the environment and, over them, those of the stack's own component", async (context) => {
    const { project, run } = await fixture.prepare(context);
    await project.setVariables({ WHO: "environment", SHARED: "all" });
    const api = await project.addComponent("api", { WHO: "api", API_URL: "canary-of-api" });
    const jobs = await project.addComponent("jobs", { WHO: "jobs", JOBS_URL: "canary-of-jobs" });
    const stack_ids = [
      await project.addStack("of-jobs", jobs),
      await project.addStack("of-api", api),
      ...project.stackIds.slice(0, 1),
    ];
    const { id } = await project.deploy({ stack_ids });
    const runner = run('env > "environment-$LONGSHORE_STACK"', "--once");
    expect(await runner.exited).toBe(0);
    expect((await project.read(id)).status).toBe("succeeded");
    const names = /^(WHO|SHARED|API_URL|JOBS_URL)=/;
    const environments = stack_ids.map((each) =>
      runner
        .read(`environment-${each}`)
        .filter((line) => names.test(line))
        .toSorted(),
    );
    expect(environments).toEqual([
      ["JOBS_URL=canary-of-jobs", "SHARED=all", "WHO=jobs"],
      ["API_URL=canary-of-api", "SHARED=all", "WHO=api"],
      ["SHARED=all", "WHO=environment"],
    ]);
  });

  it("of another component do not refuse a deployment", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const api = await project.addComponent("api", { LOG_LEVEL: "info" });
    const jobs = await project.addComponent("jobs", { NODE_OPTIONS: "--title=canary" });
    const ofApi = await project.addStack("of-api", api);
    const ofJobs = await project.addStack("of-jobs", jobs);
    await project.deploy({ stack_ids: [ofApi, project.stackIds[0]] });
    const runner = run(PRINTS_ENVIRONMENT, "--once");
    expect(await runner.exited).toBe(0);
    expect(runner.read("environment").filter((line) => line.includes("NODE_OPTIONS"))).toEqual([]);
    const { id } = await project.deploy({ stack_ids: [ofApi, ofJobs] });
    expect(await run(PRINTS_ENVIRONMENT, "--once").exited).toBe(1);
    expect((await project.read(id)).status).toBe("failed");
    expect(await fixture.failureReason(id)).toBe("variable_refused");
  });

  it("do not replace what --pass-env passes, unless --allow-variable names it", async (context) => {
    const { project, runWith } = await fixture.prepare(context);
    const stack_ids = project.stackIds.slice(0, 1);
    await project.setVariables({ REGION: "of the variable" });
    const passed = ["--once", "--pass-env", "REGION"];
    const start = (...flags: string[]) =>
      runWith({ REGION: "of the runner" }, PRINTS_ENVIRONMENT, ...passed, ...flags);
    const { id: refused } = await project.deploy({ stack_ids });
    expect(await start().exited).toBe(1);
    expect((await project.read(refused)).status).toBe("failed");
    await project.deploy({ stack_ids });
    const runner = start("--allow-variable", "REGION");
    expect(await runner.exited).toBe(0);
    expect(runner.read("environment")).toContain("REGION=of the variable");
  });
});

describe.concurrent("the log of a deployment", () => {
  it("masks what --pass-env passes and the runner's token, and shows --show-env and the rest", async (context) => {
    const { project, runWith } = await fixture.prepare(context);
    const { id } = await project.deploy({ stack_ids: project.stackIds.slice(0, 1) });
    const environment = { OF_CLOUD: CREDENTIAL, SHORT: "1234567", REGION: "eu-central-1" };
    const prints = 'echo "$OF_CLOUD $SHORT $REGION $HOME $LONGSHORE_STACK"; cat runner.token';
    const runner = runWith(
      environment,
      `${prints}; printf %s "$OF_CLOUD" | base64; base64 -w 0 runner.token`,
      ...["--once", "--pass-env", "OF_CLOUD", "--pass-env", "SHORT", "--show-env", "REGION"],
    );
    expect(await runner.exited).toBe(0);
    const [shown, ...masked] = (await fixture.log(id)).split("\n");
    expect(shown).toBe(`*** 1234567 eu-central-1 ${process.env["HOME"]} ${project.stackIds[0]}`);
    expect(masked.slice(0, 2)).toEqual(["***", "***"]);
    expect(masked[2]).toMatch(/^\*\*\*.{0,4}$/);
    for (const secret of [CREDENTIAL, project.token]) {
      expect(runner.output).not.toContain(secret);
      expect(runner.output).not.toContain(Buffer.from(secret).toString("base64").slice(0, 20));
    }
  });
});

describe.concurrent("the runner's token", () => {
  it.for([
    { source: "a file", flags: [] },
    { source: "its standard input", flags: ["--token-fd", "0"] },
  ])(
    "is on no descriptor of the runner or the command, when read from $source",
    async ({ flags }, context) => {
      const { project, run } = await fixture.prepare(context);
      const { id } = await project.deploy();
      const lists = "ls -l /proc/$PPID/fd >> descriptors; ls -l /proc/$$/fd >> descriptors";
      const runner = run(lists, "--once", ...flags);
      expect(await runner.exited).toBe(0);
      expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
      const files = runner.read("descriptors").flatMap((line) => line.split(" -> ")[1] ?? []);
      expect(files).toContain("/dev/null");
      expect(files).not.toContain(join(runner.folder, "runner.token"));
    },
  );

  it("is not read through the debugger that Node opens on SIGUSR1", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const runner = run('kill -USR1 "$PPID"', "--once");
    expect(await runner.exited).toBe(0);
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    expect(runner.output).not.toMatch(/debugger|inspector/i);
  });
});
