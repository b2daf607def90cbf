import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../../scripts/lib/wrangler.ts";
import {
  NPM_SCOPE,
  PUBLISHED_PACKAGES,
  REPOSITORY,
  RUNNER_IMAGE,
} from "../../src/lib/addresses.ts";

interface Step {
  id?: string;
  run?: string;
  uses?: string;
  env?: Record<string, string>;
}

interface Job {
  needs?: string | string[];
  env?: Record<string, string>;
  outputs?: Record<string, string>;
  steps: Step[];
}

const workflow: { on: unknown; jobs: Record<string, Job> } = parse(
  readFileSync(join(ROOT, ".github/workflows/release.yml"), "utf8"),
);
const DIGEST = `sha256:${"a1".repeat(32)}`;
const BASE = /^ARG NODE_IMAGE=(.*)$/m.exec(
  readFileSync(join(ROOT, "packages/runner/Dockerfile"), "utf8"),
)?.[1];

function jobOf(name: string): Job {
  const job = workflow.jobs[name];
  if (!job) throw new Error(`release.yml has no job ${name}.`);
  return job;
}
const commandsOf = (name: string) => jobOf(name).steps.flatMap(({ run }) => run?.trim() ?? []);
/** The step with this ID, or with this part of its command. */
function stepOf(name: string, part: string): Step {
  const { steps } = jobOf(name);
  const step = steps.find(({ id }) => id === part) ?? steps.find(({ run }) => run?.includes(part));
  if (!step) throw new Error(`The job ${name} has no step ${part}.`);
  return step;
}
/** The expression without its braces, which GitHub replaces with its value. */
const expression = (text = "") => /^\$\{\{ (.*) \}\}$/.exec(text)?.[1];

describe("the release workflow", () => {
  it("starts with a tag of a version, and publishes only what the tests accept", () => {
    expect(workflow.on).toEqual({ push: { tags: ["v*"] } });
    expect(Object.entries(workflow.jobs).map(([name, { needs }]) => [name, needs])).toEqual([
      ["check-and-test", undefined],
      ["pack", "check-and-test"],
      ["publish-packages", "pack"],
      ["publish-image", "pack"],
      ["release", ["publish-packages", "publish-image"]],
    ]);
    expect(commandsOf("check-and-test")).toEqual([".ci/run"]);
  });

  it("makes packages, notes and a bill of materials where nothing can be published", () => {
    expect(commandsOf("pack")).toEqual([
      "npm ci --ignore-scripts",
      'node scripts/pack.ts packed "$GITHUB_REF_NAME"',
      'node scripts/release-notes.ts "$GITHUB_REF_NAME" > packed/notes.md',
      "npm sbom --package-lock-only --sbom-format cyclonedx > packed/longshore.cdx.json",
    ]);
  });

  it("installs nothing and runs no code of the checkout where it publishes", () => {
    const publishing = ["publish-packages", "publish-image", "release"];
    const commands = publishing.flatMap(commandsOf).join("\n");
    expect(commands.match(/\b(npm|npx|node|yarn|pnpm) [a-z]+/g)).toEqual([
      "npm view",
      "npm publish",
    ]);
    const actions = publishing.flatMap((name) =>
      jobOf(name).steps.flatMap(({ uses }) => uses ?? []),
    );
    expect(new Set(actions.map((uses) => uses.split("@")[0]))).toEqual(
      new Set(["actions/setup-node", "actions/download-artifact", "actions/checkout"]),
    );
  });
});

describe("a command of the release workflow", () => {
  let folder: string;

  /** Runs a step as GitHub does, with programs that print this and note their arguments. */
  function run(step: Step, programs: Record<string, string>, env: Record<string, string> = {}) {
    const bin = join(folder, "bin");
    mkdirSync(bin, { recursive: true });
    for (const [name, script] of Object.entries(programs)) {
      const note = `echo "${name} $*" >> "${folder}/calls"`;
      writeFileSync(join(bin, name), `#!/bin/sh\n${note}\n${script}\n`, { mode: 0o755 });
    }
    const { status, stderr } = spawnSync("bash", ["--norc", "-e", "-c", step.run ?? "exit 99"], {
      cwd: folder,
      encoding: "utf8",
      env: {
        PATH: `${bin}:${process.env["PATH"]}`,
        GITHUB_REF_NAME: "v1.2.3",
        GITHUB_OUTPUT: join(folder, "output"),
        GITHUB_REPOSITORY: REPOSITORY,
        GITHUB_SERVER_URL: "https://github.com",
        GITHUB_SHA: "c0ffee",
        ...env,
      } as unknown as NodeJS.ProcessEnv,
    });
    return { status, stderr };
  }
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const read = (path: string) => readFileSync(join(folder, path), "utf8");
  const callsOf = (name: string) =>
    read("calls")
      .split("\n")
      .filter((line) => line.startsWith(`${name} `));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "longshore-workflow-"));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it("publishes with provenance what npm does not have yet", () => {
    const publish = stepOf("publish-packages", "npm publish");
    const npm = `[ "$1" != view ] || [ "$2" != "${NPM_SCOPE}/client@1.2.3" ] || echo 1.2.3`;
    expect(run(publish, { npm })).toEqual({ status: 0, stderr: "" });
    const calls = callsOf("npm");
    expect(calls.filter((call) => call.startsWith("npm view"))).toEqual(
      PUBLISHED_PACKAGES.map((name) => `npm view ${NPM_SCOPE}/${name}@1.2.3 version`),
    );
    expect(calls.filter((call) => call.startsWith("npm publish"))).toEqual(
      ["cli", "runner", "server"].map(
        (name) => `npm publish --provenance --access public ./longshore-${name}-1.2.3.tgz`,
      ),
    );
  });

  it("resolves the digest of the image's base, or fails", () => {
    write(
      "packages/runner/Dockerfile",
      readFileSync(join(ROOT, "packages/runner/Dockerfile"), "utf8"),
    );
    const base = stepOf("publish-image", "base");
    expect(run(base, { docker: `echo ${DIGEST}` })).toEqual({ status: 0, stderr: "" });
    expect(callsOf("docker")).toEqual([
      `docker buildx imagetools inspect ${BASE} --format {{.Manifest.Digest}}`,
    ]);
    expect(read("output")).toBe(`image=${BASE}@${DIGEST}\n`);
    for (const printed of ["", "sha256:a1", `${DIGEST}0`, "exit 1"]) {
      const docker = printed === "exit 1" ? printed : `echo ${printed}`;
      expect(run(base, { docker }).status).not.toBe(0);
    }
    expect(read("output")).toBe(`image=${BASE}@${DIGEST}\n`);
  });

  it("builds the image with that digest, and records it", () => {
    const build = stepOf("publish-image", "build");
    const { env = {}, outputs = {} } = jobOf("publish-image");
    expect(expression(build.env?.["NODE_IMAGE"])).toBe("steps.base.outputs.image");
    expect(expression(outputs["base"])).toBe("steps.base.outputs.image");
    expect(expression(outputs["image"])).toBe("steps.build.outputs.image");
    expect(env).toEqual({ IMAGE: RUNNER_IMAGE });
    const pushed = `sha256:${"b2".repeat(32)}`;
    const docker = `[ "$2" != imagetools ] || echo ${pushed}`;
    const NODE_IMAGE = `${BASE}@${DIGEST}`;
    expect(run(build, { docker }, { ...env, NODE_IMAGE })).toEqual({ status: 0, stderr: "" });
    const [, command = ""] = callsOf("docker");
    expect(command).toContain(` --build-arg NODE_IMAGE=${BASE}@${DIGEST} `);
    expect(command).toContain(` --label org.opencontainers.image.base.name=${BASE} `);
    expect(command).toContain(` --label org.opencontainers.image.base.digest=${DIGEST} `);
    expect(command).toContain(" --provenance mode=max --sbom true --push ");
    expect(command).toMatch(new RegExp(` --tag ${RUNNER_IMAGE}:1\\.2\\.3 packages/runner$`));
    expect(read("output")).toBe(`image=${RUNNER_IMAGE}:1.2.3@${pushed}\n`);
  });

  it("logs in to the registry of the image with a token that no argument has", () => {
    const login = stepOf("publish-image", "docker login");
    expect(expression(login.env?.["TOKEN"])).toBe("github.token");
    const env = { GITHUB_ACTOR: "ada", TOKEN: "secret" };
    expect(run(login, { docker: `cat > ${folder}/input` }, env).status).toBe(0);
    const [registry = ""] = RUNNER_IMAGE.split("/");
    expect(callsOf("docker")).toEqual([`docker login ${registry} --username ada --password-stdin`]);
    expect(read("input")).toBe("secret");
  });

  it("puts the files of the packed runner into the image, and nothing else", () => {
    write("package/dist/longshore-runner.js", "program");
    write("package/dist/executors/workers.js", "executor");
    write("package/README.md", "page");
    mkdirSync(join(folder, "packed"));
    const archive = "packed/longshore-runner-1.2.3.tgz";
    spawnSync("tar", ["--create", "--gzip", "--file", archive, "package"], { cwd: folder });
    mkdirSync(join(folder, "packages/runner"), { recursive: true });
    const unpack = stepOf("publish-image", "tar --extract");
    expect(run(unpack, {})).toEqual({ status: 0, stderr: "" });
    const unpacked = readdirSync(join(folder, "packages/runner/dist"), { recursive: true });
    expect(unpacked.toSorted()).toEqual([
      "executors",
      "executors/workers.js",
      "longshore-runner.js",
    ]);
  });

  it.each([
    ["makes the release", "exit 1", true],
    ["repeats a release that exists", "", false],
  ])("%s, with notes, files and checksums", (_, view, isCreated) => {
    const step = stepOf("release", "gh release upload");
    expect(expression(step.env?.["IMAGE"])).toBe("needs.publish-image.outputs.image");
    expect(expression(step.env?.["NODE_IMAGE"])).toBe("needs.publish-image.outputs.base");
    for (const name of PUBLISHED_PACKAGES) write(`longshore-${name}-1.2.3.tgz`, name);
    write("longshore.cdx.json", "{}");
    write("notes.md", "What it is.");
    const env = { IMAGE: `${RUNNER_IMAGE}:1.2.3@${DIGEST}`, NODE_IMAGE: `${BASE}@${DIGEST}` };
    const gh = `[ "$2" != view ] || ${view || "true"}`;
    expect(run(step, { gh }, env)).toEqual({ status: 0, stderr: "" });
    expect(read("notes.md")).toBe(
      `What it is.\n\n### Image\n\n\`${env.IMAGE}\`, built on \`${env.NODE_IMAGE}\`.\n`,
    );
    const calls = callsOf("gh").map((call) => call.split(" ")[2]);
    expect(calls).toEqual(["view", ...(isCreated ? ["create"] : []), "edit", "upload"]);
    const files = [...PUBLISHED_PACKAGES.map((name) => `longshore-${name}-1.2.3.tgz`)];
    expect(callsOf("gh").at(-1)).toBe(
      `gh release upload v1.2.3 --clobber -- ${files.join(" ")} longshore.cdx.json SHA256SUMS`,
    );
    const check = () =>
      spawnSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: folder, encoding: "utf8" });
    expect(check().stdout.match(/: OK$/gm)).toHaveLength(files.length + 1);
    write("longshore-cli-1.2.3.tgz", "altered");
    expect(check().status).toBe(1);
  });
});
