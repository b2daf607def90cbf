import { execFile } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bundleProgram,
  CLI_PROGRAM,
  EXECUTOR_PROGRAMS,
  LICENSES_FILE,
} from "../../../scripts/lib/program-bundle.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { PUBLISHED_PACKAGES } from "../../../src/lib/addresses.ts";
import { installPackedPackages } from "../support/packed-packages.ts";
import { useService } from "../support/service.ts";
import { findSystemNode, versionOf } from "../support/system-node.ts";

/** Grows with the commands; a package that doubles it must be a decision. */
const MAXIMUM_BYTES = 380_000;
const { version } = JSON.parse(readFileSync(join(ROOT, "packages/cli/package.json"), "utf8"));
const [systemNode] = findSystemNode();
const nodes = [process.execPath, ...(systemNode ? [systemNode] : [])].map((node) => [
  versionOf(node),
  node,
]);

let folder: string;
const service = useService();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "longshore-packed-"));
  installPackedPackages(folder);
}, 120_000);

afterAll(async () => {
  rmSync(folder, { recursive: true });
});

/** Runs a program with this Node as the only one, without the repository's. */
async function run(node: string, command: string, args: readonly string[]) {
  const env = {
    HOME: folder,
    PATH: [dirname(node), "/usr/bin", "/bin"].join(delimiter),
    LONGSHORE_URL: service.url.origin,
    LONGSHORE_API_KEY: service.owner.key,
  } as unknown as NodeJS.ProcessEnv;
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env });
  return stdout;
}

describe("the packed command line", () => {
  it("is one file with its licenses, and installs no other package", () => {
    const installed = join(folder, "node_modules/@longshore/cli");
    const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
    const programs = [CLI_PROGRAM.fileName, LICENSES_FILE].map((name) => `dist/${name}`);
    const executors = EXECUTOR_PROGRAMS.filter(({ folder }) =>
      folder.startsWith(CLI_PROGRAM.folder),
    )
      .flatMap((each) => [...bundleProgram(each).keys()])
      .map((name) => `dist/executors/${name}`);
    const folders = executors.length > 0 ? ["dist", "dist/executors"] : ["dist"];
    expect(files.toSorted()).toEqual(
      ["LICENSE", "README.md", ...folders, ...programs, ...executors, "package.json"].toSorted(),
    );
    const packages = readdirSync(join(folder, "node_modules"));
    expect(packages.filter((name) => !name.startsWith("."))).toEqual(["@longshore"]);
    const license = readFileSync(join(ROOT, "LICENSE"), "utf8");
    for (const name of PUBLISHED_PACKAGES) {
      const packed = join(folder, "node_modules/@longshore", name, "LICENSE");
      expect(readFileSync(packed, "utf8")).toBe(license);
    }
    const licenses = readFileSync(join(installed, "dist", LICENSES_FILE), "utf8");
    expect(licenses).toMatch(/^commander [\d.]+ \(MIT\)\n\n\(The MIT License\)/m);
    expect(licenses).toMatch(/^string-width [\d.]+ \(MIT\)\n\nMIT License/m);
  });

  it("is small, and starts without another file", async () => {
    const bundle = join(CLI_PROGRAM.folder, CLI_PROGRAM.fileName);
    expect(statSync(bundle).size).toBeLessThan(MAXIMUM_BYTES);
    const alone = join(folder, "alone");
    mkdirSync(alone);
    const copy = join(alone, "longshore.mjs");
    copyFileSync(bundle, copy);
    const args = ["--permission", `--allow-fs-read=${copy}`, copy];
    expect(await run(process.execPath, process.execPath, [...args, "--version"])).toBe(
      `${version}\n`,
    );
    expect(await run(process.execPath, process.execPath, [...args, "--help"])).toContain("whoami");
  });

  it.each(nodes)("works with Node %s, and so does the client", async (_, node) => {
    const longshore = (...args: string[]) => run(node, "node_modules/.bin/longshore", args);
    expect(await longshore("--version")).toBe(`${version}\n`);
    expect(await longshore("--help")).toContain("Usage: longshore [options] [command]");
    expect(JSON.parse(await longshore("whoami", "--json")).url).toBe(service.url.origin);
    const name = `shop of ${node.length}`;
    const created = await longshore("projects", "create", name, "--quiet");
    expect(created).toMatch(/^\w{22}\n$/);
    const shown = await longshore("api", "GET", `/v1/projects/${created.trim()}`, "--field=name");
    expect(shown).toBe(`${name}\n`);
    expect(await longshore("projects", "ls")).toContain(name);
    const login = `printf %s "$LONGSHORE_API_KEY" | node_modules/.bin/longshore login --profile ${versionOf(node)}`;
    await run(node, "sh", ["-c", login]);
    expect(await longshore("profiles", "ls")).toContain(`* ${versionOf(node)}`);
    await expect(longshore("projects", "show", "none")).rejects.toMatchObject({ code: 1 });
    writeFileSync(
      join(folder, "use.mjs"),
      `import { createClient } from "@longshore/client";
      const { LONGSHORE_URL: url, LONGSHORE_API_KEY: apiKey } = process.env;
      for await (const { name } of createClient({ url, apiKey }).list("/v1/projects")) console.log(name);`,
    );
    expect(await run(node, node, ["use.mjs"])).toContain(`${name}\n`);
  });
});
