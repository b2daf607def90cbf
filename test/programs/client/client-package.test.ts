import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { installPackedPackages } from "../support/packed-packages.ts";
import { useService } from "../support/service.ts";
import { findSystemNode } from "../support/system-node.ts";

const PACKAGE = join(ROOT, "packages/client");
const README = readFileSync(join(PACKAGE, "README.md"), "utf8");
const MAXIMUM_BYTES = 5_000;
const TYPESCRIPT_5 = "packages/client-generators/node_modules/typescript/bin/tsc";
const COMPILERS = ["node_modules/typescript/bin/tsc", TYPESCRIPT_5];

/** Where a package is installed, and what else is there. */
const PLATFORMS = {
  node: { lib: ["es2022"], types: ["node"] },
  browsers: { lib: ["es2022", "dom", "dom.iterable"], types: [] },
  workers: { lib: ["es2022"], types: ["@cloudflare/workers-types"] },
};

let folder: string;
const service = useService();

function run(program: string, args: readonly string[], environment: NodeJS.Dict<string> = {}) {
  return execFileSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** While the service of this process responds. */
async function runReadme(node: string): Promise<string> {
  const env = { ...process.env, LONGSHORE_API_KEY: service.owner.key };
  return (await promisify(execFile)(node, ["readme.js"], { cwd: folder, env })).stdout;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "longshore-client-"));
  installPackedPackages(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
});

/** The code of the page, for the service of this test. */
const readmeCode = () =>
  [...README.matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
    .map(([, code]) => code)
    .join("\n")
    .replaceAll("https://longshore.example.com", service.url.origin);

/** Cancels the deployment of the page, so that its stream ends. */
async function cancelDeployment(): Promise<void> {
  const unfinished = "/v1/deployments?status=queued";
  const read = async () => (await service.owner.call("GET", unfinished)).data;
  await expect.poll(read, { timeout: 300_000, interval: 500 }).toHaveLength(1);
  const [{ id }] = await read();
  await service.owner.call("PATCH", `/v1/deployments/${id}/cancel`);
}

describe("the packed client", () => {
  it("has JavaScript and types only, and imports nothing", () => {
    const installed = join(folder, "node_modules/@longshore/client");
    const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
    const unexpected = files.filter((file) => !/\.(js|d\.ts)$|^dist(\/generated)?$/.test(file));
    expect(unexpected.toSorted()).toEqual(["LICENSE", "README.md", "package.json"]);
    for (const file of files.filter((name) => name.endsWith("s"))) {
      const text = readFileSync(join(installed, file), "utf8");
      // Not the text "from" of a type.
      const imports = [...text.matchAll(/(?<!["'])\b(?:from|import)\s*\(?["']([^"']+)["']/g)];
      // TypeScript leaves the names of sources in declarations, and finds their declarations.
      const relative = file.endsWith(".d.ts") ? /^\.\.?\/.*\.ts$/ : /^\.\.?\/.*\.js$/;
      for (const [, name] of imports) expect(name).toMatch(relative);
    }
  });

  it("is small in a bundle for browsers", () => {
    writeFileSync(join(folder, "browser.js"), 'export * from "@longshore/client";');
    const { outputFiles } = buildSync({
      absWorkingDir: folder,
      entryPoints: ["browser.js"],
      bundle: true,
      minify: true,
      write: false,
      format: "esm",
      platform: "browser",
    });
    const [bundle] = outputFiles;
    expect(gzipSync(bundle?.contents ?? "").length).toBeLessThan(MAXIMUM_BYTES);
  });

  it.each(Object.entries(PLATFORMS))("type-checks in strict mode: %s", (name, platform) => {
    const project = join(folder, name);
    mkdirSync(project);
    const use = `import { createClient, type LogEvent } from "@longshore/client";
      export const longshore = createClient({ url: "http://localhost", fetch: (url, init) => fetch(url, init) });
      export const names: string[] = (await longshore.get("/v1/projects")).data.map(({ name }) => name);
      export const show = (event: LogEvent) => event.event === "line" ? event.data.text : event.data.status;
      // @ts-expect-error There is no such path.
      await longshore.get("/v1/project");
      // @ts-expect-error The body lacks the name.
      await longshore.post("/v1/projects", { body: {} });
      // @ts-expect-error A path parameter is missing.
      await longshore.get("/v1/projects/{project_id}");
      // @ts-expect-error It is no list.
      longshore.list("/v1/account");
      // @ts-expect-error PUT takes no key.
      longshore.put("/v1/projects/{project_id}", { path: { project_id: "" }, body: { default_environment_id: "" }, idempotencyKey: "a" });
      // @ts-expect-error A list takes no version.
      longshore.post("/v1/projects", { body: { name: "a" }, ifMatch: "*" });`;
    writeFileSync(join(project, "use.ts"), use);
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          ...platform,
          typeRoots: [join(ROOT, "node_modules/@types"), join(ROOT, "node_modules")],
          target: "es2022",
          module: "nodenext",
          strict: true,
          // TypeScript's own declarations are not what is tested.
          skipDefaultLibCheck: true,
          noEmit: true,
        },
        include: ["use.ts"],
      }),
    );
    for (const compiler of COMPILERS) {
      expect(run(process.execPath, [join(ROOT, compiler), "--project", project])).toBe("");
    }
  });

  it("runs the code of its README, with each Node of this machine", async () => {
    writeFileSync(join(folder, "readme.ts"), readmeCode());
    const options = ["--target", "es2022", "--module", "nodenext", "--strict", "--types", "node"];
    const roots = ["--typeRoots", join(ROOT, "node_modules/@types")];
    const compiler = join(ROOT, String(COMPILERS[0]));
    expect(
      run(process.execPath, [compiler, "readme.ts", ...options, ...roots, "--ignoreConfig"]),
    ).toBe("");
    for (const node of [process.execPath, ...findSystemNode()]) {
      const canceled = cancelDeployment();
      const output = await runReadme(node);
      await canceled;
      // The next one creates the project of the page again.
      await service.d1.prepare("update projects set name = id").run();
      expect(output.split("\n")).toEqual([
        expect.stringMatching(/^"/),
        "production",
        "Status: canceled",
        expect.stringMatching(/^bad_input 400 .+ [\w-]{8,}$/),
        "name",
        "",
      ]);
    }
  });

  it("runs in workerd without Node's APIs", async () => {
    const { key } = service.owner;
    writeFileSync(
      join(folder, "worker.js"),
      `import { createClient } from "@longshore/client";
      export default {
        async fetch() {
          const longshore = createClient({ url: "${service.url.origin}", apiKey: "${key}" });
          const project = await longshore.post("/v1/projects", { body: { name: "workerd" } });
          const path = { project_id: project.id };
          const environments = [];
          for await (const { name } of longshore.list("/v1/projects/{project_id}/environments", { path })) {
            environments.push(name);
          }
          await longshore.update("/v1/projects/{project_id}", { path }, (record) => ({
            name: "worker", default_environment_id: record.default_environment_id,
          }));
          const { name } = await longshore.get("/v1/projects/{project_id}", { path });
          const logs = longshore.stream("/v1/deployments/{deployment_id}/logs", { path: { deployment_id: project.id } });
          const error = await logs.next().catch(({ code, status, requestId }) => ({ code, status, requestId }));
          return Response.json({ environments, name, error });
        },
      };`,
    );
    buildSync({
      absWorkingDir: folder,
      entryPoints: ["worker.js"],
      bundle: true,
      outfile: "worker-bundle.js",
      format: "esm",
    });
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: readFileSync(join(folder, "worker-bundle.js"), "utf8"),
        compatibilityDate: "2026-01-01",
      }),
    );
    try {
      const response = await miniflare.dispatchFetch("http://localhost/");
      expect(await response.json()).toEqual({
        environments: ["production"],
        name: "worker",
        error: { code: "not_found", status: 404, requestId: expect.stringMatching(/\w{8}/) },
      });
    } finally {
      await miniflare.dispose();
    }
  });
});
