import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDocument } from "../../../scripts/lib/document.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { useService } from "../support/service.ts";

const PACKAGE = join(ROOT, "packages/client-generators");
const MODULES = join(PACKAGE, "node_modules");
const GENERATORS = {
  "openapi-typescript": [
    join(MODULES, "openapi-typescript/bin/cli.js"),
    "openapi.json",
    "--output=openapi-typescript.ts",
    "--default-non-nullable=false",
  ],
  "@hey-api/openapi-ts": [
    join(MODULES, "@hey-api/openapi-ts/bin/run.js"),
    "--file=hey-api.config.mjs",
    "--no-log-file",
  ],
};
const HEY_API = {
  input: "./openapi.json",
  output: { path: "./hey-api", importFileExtension: ".ts" },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
};

let folder: string;
const service = useService();

/** Runs a program in the folder of the generated code. Rejects unless it ends with 0. */
async function run(script: string, ...args: string[]): Promise<string> {
  const flags = ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"];
  const options = { cwd: folder, env: { ...process.env, NO_COLOR: "1" } };
  const result = promisify(execFile)(process.execPath, [...flags, script, ...args], options);
  const { stdout, stderr } = await result.catch(({ message, stdout: output }) => {
    throw new Error(`${message}\n${output}`);
  });
  return stdout + stderr;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "longshore-clients-"));
  cpSync(join(PACKAGE, "src"), folder, { recursive: true });
  cpSync(join(PACKAGE, "tsconfig.json"), join(folder, "tsconfig.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(await readDocument()));
  const config = `export default ${JSON.stringify(HEY_API)};`;
  writeFileSync(join(folder, "hey-api.config.mjs"), config);
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
});

describe("a client that is generated from the OpenAPI document", () => {
  it.each(Object.entries(GENERATORS))(
    "is made by %s without a warning",
    async (_, [cli, ...args]) => {
      const output = await run(String(cli), ...args);
      expect(output).not.toMatch(/warn|error|⚠|skipp|unsupported|deprecat/i);
      expect(readdirSync(folder)).toEqual(
        expect.arrayContaining([cli?.includes("hey-api") ? "hey-api" : "openapi-typescript.ts"]),
      );
    },
  );

  it("type-checks in strict mode, with the programs that use it", async () => {
    expect(await run(join(MODULES, "typescript/bin/tsc"), "--project", ".")).toBe("");
  });

  it.each(["openapi-fetch-tour.ts", "hey-api-tour.ts"])("calls the service: %s", async (tour) => {
    const { key } = await service.owner.call(
      "POST",
      `/v1/orgs/${service.organizationId}/api-keys`,
      { name: tour },
    );
    expect(JSON.parse(await run(tour, service.url.origin, key))).toEqual({
      status: "disconnected",
      environments: ["production", "staging"],
      conflict: "conflict",
      issues: ["name"],
      event: "storefront failed: stack_failed",
    });
    // The next tour creates the same project.
    await service.d1.prepare("update projects set name = id").run();
  });
});
