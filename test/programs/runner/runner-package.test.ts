import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPTIONS } from "../../../packages/runner/src/options.ts";
import { RUNNER_PROGRAM } from "../../../scripts/lib/program-bundle.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { TestProject } from "../support/project.ts";
import { useService } from "../support/service.ts";
import { findSystemNode, versionOf } from "../support/system-node.ts";

const NOBODY = 65_534;
const PACKAGE = join(ROOT, "packages/runner");
const PROGRAM = join(RUNNER_PROGRAM.folder, RUNNER_PROGRAM.fileName);
const DOCKERFILE = readFileSync(join(PACKAGE, "Dockerfile"), "utf8");
const { version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
const nodes = [process.execPath, ...findSystemNode()].map(
  (node) => [versionOf(node), node] as const,
);

/** Prints the folders that it can write, and reports an output. */
const DEPLOY = `#!/bin/sh
set -eu
test -r "$LONGSHORE_INPUT_FILE"
for each in . "$HOME" "$TMPDIR"; do touch "$each/written" 2>/dev/null && echo "writes $each"; done
rm "$TMPDIR/written"
echo '{"output":{"name":"url","value":"https://shop.example.com"}}' >> "$LONGSHORE_REPORT_FILE"
`;

/** With these, Node throws when a program writes anywhere else. */
const writesOnlyTo = (folder: string) => [
  "--permission",
  "--allow-fs-read=*",
  `--allow-fs-write=${folder}`,
  "--allow-child-process",
  "--disable-warning=SecurityWarning",
];

/** The statements of the Dockerfile, in order. */
const statements = DOCKERFILE.replaceAll("\\\n", " ")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [, instruction = "", rest = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return { instruction, rest };
  });
const valuesOf = (name: string) =>
  statements.flatMap(({ instruction, rest }) => (instruction === name ? [rest] : []));

describe("the Dockerfile of the runner", () => {
  it("copies files that exist, and nothing else", () => {
    const copies = valuesOf("COPY").map((each) =>
      each.split(" ").filter((part) => !part.startsWith("--")),
    );
    expect(copies).toEqual([["dist/", "/usr/local/lib/longshore/"]]);
    for (const [source = ""] of copies) expect(existsSync(join(PACKAGE, source))).toBe(true);
    expect([valuesOf("ADD"), valuesOf("RUN")]).toEqual([[], []]);
    expect(join(PACKAGE, "dist/longshore-runner.js")).toBe(PROGRAM);
  });

  it("starts the copied file without a shell, as a user who is not root and cannot change it", () => {
    const [entry = ""] = valuesOf("ENTRYPOINT");
    expect(JSON.parse(entry)).toEqual(["node", "/usr/local/lib/longshore/longshore-runner.js"]);
    expect(valuesOf("COPY")[0]).toContain("--chown=root:root --chmod=0555 ");
    expect(valuesOf("USER")).toEqual([expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)]);
    const names = statements.map(({ instruction }) => instruction);
    expect(names).toEqual(["ARG", "FROM", "COPY", "WORKDIR", "USER", "ENTRYPOINT"]);
  });

  it("is used in docs/runners.md with a root filesystem that is read-only, and extended as its user", () => {
    const page = readFileSync(join(ROOT, "docs/runners.md"), "utf8");
    const [, command = ""] = /^```sh container\n([\s\S]*?)^```$/m.exec(page) ?? [];
    expect(command).toMatch(/^docker run .* --read-only --tmpfs \/tmp /);
    const runnerArgs = command.split("shop-runner")[1]?.match(/--[a-z-]+/g) ?? [];
    expect(Object.keys(OPTIONS)).toEqual(
      expect.arrayContaining(runnerArgs.map((name) => name.slice(2))),
    );
    const [, extended = ""] = /^```dockerfile\n([\s\S]*?)^```$/m.exec(page) ?? [];
    const users = [...extended.matchAll(/^USER (.*)$/gm)].map(([, user]) => user);
    expect(users.at(-1)).toBe(valuesOf("USER")[0]);
  });

  it("has the exact version of Node that the workflows use", () => {
    const workflow = readFileSync(join(ROOT, ".github/workflows/ci.yml"), "utf8");
    const [, node = ""] = /node-version: (\d+\.\d+\.\d+)\n/.exec(workflow) ?? [];
    expect(node).not.toBe("");
    expect(valuesOf("ARG")).toEqual([`NODE_IMAGE=node:${node}-trixie-slim`]);
    expect(valuesOf("FROM")).toEqual(["$NODE_IMAGE"]);
  });
});

describe("the built runner", () => {
  const service = useService();
  let folder: string;
  let temporary: string;
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "longshore-read-only-"));
    temporary = join(folder, "tmp");
    mkdirSync(temporary);
    if (identity.uid !== undefined) chownSync(temporary, identity.uid, identity.gid);
    writeFileSync(join(folder, "deploy.sh"), DEPLOY, { mode: 0o555 });
    chmodSync(folder, 0o555);
  });

  afterAll(async () => {
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true });
  });

  /** As in a container: another user, a folder and a home that cannot be written, and the token on its input. */
  async function run(
    node: string,
    options: readonly string[],
    token: string,
    args: readonly string[],
  ) {
    const program = [...options, PROGRAM, "--url", service.url.origin, "--token-fd", "0", ...args];
    const child = spawn(node, program, {
      cwd: folder,
      env: {
        PATH: "/usr/bin:/bin",
        HOME: folder,
        TMPDIR: temporary,
      } as unknown as NodeJS.ProcessEnv,
      stdio: ["pipe", "pipe", "pipe"],
      ...identity,
    });
    // It may end before it reads its input.
    child.stdin.on("error", () => undefined);
    child.stdin.end(token);
    const [output, errors, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { output, errors, status };
  }

  it.each(nodes)(
    "deploys as another user than root, and writes to TMPDIR only, with Node %s",
    async (name, node) => {
      const project = await TestProject.make(service);
      const { id } = await project.deploy();
      const options = name.startsWith("v20.") ? [] : writesOnlyTo(temporary);
      const args = ["--once", "--exec", "./deploy.sh"];
      const result = await run(node, options, project.token, args);
      expect(result).toMatchObject({ status: 0, errors: "" });
      expect(await project.waitForEnd(id)).toMatchObject({ status: "succeeded" });
      const written = project.stackIds.map(() => `writes ${temporary}`);
      expect(result.output.match(/writes .*/g)).toEqual(written);
      const { outputs } = await service.owner.call("GET", `/v1/stacks/${project.stackIds[0]}`);
      expect(outputs).toEqual({ url: "https://shop.example.com" });
      expect(readdirSync(temporary)).toEqual([]);
    },
  );

  it("is an executable file without dependencies, and names itself", async () => {
    expect(statSync(PROGRAM).mode & 0o111).toBe(0o111);
    const source = readFileSync(PROGRAM, "utf8");
    expect(source).toMatch(/^#!\/usr\/bin\/env node\n/);
    const imports = [...source.matchAll(/^import .* from "([^"]+)";$/gm)].map(([, from]) => from);
    expect(imports.filter((from) => !from?.startsWith("node:"))).toEqual([]);
    expect((await run(process.execPath, [], "", ["--version"])).output).toBe(`${version}\n`);
    const refused = await run(process.execPath, [], "", []);
    expect(refused).toMatchObject({
      status: 2,
      errors: expect.stringContaining("Usage: longshore-runner --url"),
    });
  });
});
