import { execFile } from "node:child_process";
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { NPM_SCOPE, PUBLISHED_PACKAGES } from "../../../src/lib/addresses.ts";
import { VERSION } from "../../../src/lib/version.ts";
import { Checkout } from "../support/checkout.ts";
import { installPackedPackages, installTarballs } from "../support/packed-packages.ts";
import { useService } from "../support/service.ts";
import { findSystemNode, versionOf } from "../support/system-node.ts";

const nodes = [process.execPath, ...findSystemNode()].map((node) => [versionOf(node), node]);
const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const root = manifestOf(ROOT);
const tag = `v${root.version}`;
const SERVER = "server";

describe("the packages that are published", () => {
  it("are those that are not private", () => {
    const all = globSync("packages/**/package.json", {
      cwd: ROOT,
      exclude: (path) => path.endsWith("node_modules"),
    });
    const published = all.filter((path) => !manifestOf(join(ROOT, dirname(path))).private);
    expect(published.toSorted()).toEqual(
      PUBLISHED_PACKAGES.map((name) => `packages/${name}/package.json`).toSorted(),
    );
    expect(root.private).toBe(true);
  });

  it("have one version, in every manifest, in the lockfile and in the Worker", () => {
    const { version, packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
    const manifests = globSync("{.,packages/**}/package.json", {
      cwd: ROOT,
      exclude: (path) => path.endsWith("node_modules"),
    });
    expect(manifests.length).toBeGreaterThan(PUBLISHED_PACKAGES.length);
    const versions = manifests.flatMap((path) => {
      const folder = dirname(path) === "." ? "" : dirname(path);
      return [manifestOf(join(ROOT, folder)).version, packages[folder].version];
    });
    expect(new Set([version, VERSION, ...versions])).toEqual(new Set([root.version]));
  });

  it.each(PUBLISHED_PACKAGES)("say what npm and its provenance need: %s", (name) => {
    const folder = join(ROOT, "packages", name);
    const manifest = manifestOf(folder);
    expect(manifest).toMatchObject({
      name: `${NPM_SCOPE}/${name}`,
      version: root.version,
      license: root.license,
      repository: { ...root.repository, directory: `packages/${name}` },
      publishConfig: { access: "public", provenance: true },
      engines: { node: expect.stringMatching(name === SERVER ? /^>=22\./ : /^>=20\./) },
      files: expect.arrayContaining(["dist"]),
    });
    // They are bundled, but for what starts workerd.
    const { dependencies = {} } = manifest;
    expect(dependencies).toEqual(
      name === SERVER ? { miniflare: root.devDependencies.miniflare } : {},
    );
    for (const each of ["peerDependencies", "optionalDependencies"]) {
      expect(manifest).not.toHaveProperty(each);
    }
    for (const script of ["install", "preinstall", "postinstall"]) {
      expect(manifest.scripts).not.toHaveProperty(script);
    }
    expect(readFileSync(join(folder, "LICENSE"), "utf8")).toBe(
      readFileSync(join(ROOT, "LICENSE"), "utf8"),
    );
    expect(readFileSync(join(folder, "README.md"), "utf8")).toContain(
      manifest.engines.node.slice(2),
    );
  });
});

describe("scripts/pack.ts", () => {
  let folder: string;
  const service = useService();

  /** After `npm ci --ignore-scripts`, as in the workflow: no program is bundled. */
  const checkout = new Checkout({ hasAssets: false });

  const pack = (...args: string[]) =>
    promisify(execFile)(process.execPath, [checkout.path("scripts/pack.ts"), ...args]);

  /** Runs a program with this Node as the only one, and nothing of the checkout. */
  async function run(node: string, command: string, args: readonly string[]) {
    const env = {
      HOME: folder,
      PATH: [dirname(node), "/usr/bin", "/bin"].join(delimiter),
      LONGSHORE_URL: service.url.origin,
      LONGSHORE_API_KEY: service.owner.key,
    } as unknown as NodeJS.ProcessEnv;
    const cwd = join(folder, "installed");
    return (await promisify(execFile)(command, args, { cwd, env })).stdout;
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "longshore-release-"));
    mkdirSync(join(folder, "installed"));
    for (const name of PUBLISHED_PACKAGES) {
      rmSync(checkout.path(`packages/${name}/dist`), { recursive: true, force: true });
    }
    await pack(join(folder, "packed"), tag);
    installTarballs(join(folder, "packed"), join(folder, "installed"));
  }, 120_000);

  afterAll(async () => {
    checkout.remove();
    rmSync(folder, { recursive: true });
  });

  it("packs one file of each package, named as the workflow publishes it", () => {
    const packed = readdirSync(join(folder, "packed"));
    expect(packed).toEqual(
      PUBLISHED_PACKAGES.map((name) => `longshore-${name}-${root.version}.tgz`),
    );
    const workflow = readFileSync(join(ROOT, ".github/workflows/release.yml"), "utf8");
    expect(workflow).toContain('"./longshore-$name-$version.tgz"');
    expect(workflow).toMatch(/"packed\/longshore-runner-\$\{GITHUB_REF_NAME#v\}\.tgz"/);
    const [, names = ""] = /for name in (.*); do/.exec(workflow) ?? [];
    expect(names.split(" ").toSorted()).toEqual(PUBLISHED_PACKAGES);
  });

  it("packs the same as npm pack, which runs the scripts of the packages", () => {
    const other = join(folder, "other");
    mkdirSync(other);
    installPackedPackages(other);
    const filesOf = (installed: string) =>
      readdirSync(join(installed, "node_modules/@longshore"), {
        recursive: true,
        encoding: "utf8",
      });
    expect(filesOf(join(folder, "installed")).toSorted()).toEqual(filesOf(other).toSorted());
  });

  it("refuses a tag that is not the version of the packages", async () => {
    await expect(pack(join(folder, "refused"), "v0.0.1")).rejects.toMatchObject({
      code: 1,
      stderr: `The tag is v0.0.1, and the version of ${NPM_SCOPE}/cli is ${root.version}.\n`,
    });
    await expect(pack()).rejects.toMatchObject({ code: 2 });
  });

  it.each(nodes)("packs what works in an empty folder, with Node %s", async (_, node) => {
    const bin = (name: string, ...args: string[]) => run(node, `node_modules/.bin/${name}`, args);
    expect(await bin("longshore", "--version")).toBe(`${root.version}\n`);
    expect(JSON.parse(await bin("longshore", "whoami", "--json")).url).toBe(service.url.origin);
    expect(await bin("longshore-runner", "--version")).toBe(`${root.version}\n`);
    expect(await bin("longshore-runner", "--help")).toMatch(/^Usage: longshore-runner --url URL/);
    expect(await bin("longshore", "runner", "--help")).toMatch(
      /^Usage: longshore runner --url URL/,
    );
    writeFileSync(
      join(folder, "installed", "use.mjs"),
      `import { createClient } from "@longshore/client";
      import schema from "@longshore/runner/input.schema.json" with { type: "json" };
      const { LONGSHORE_URL: url, LONGSHORE_API_KEY: apiKey } = process.env;
      const { organization } = await createClient({ url, apiKey }).get("/v1/whoami");
      console.log(organization.id, schema.$schema);`,
    );
    const schema = "https://json-schema.org/draft/2020-12/schema";
    expect(await run(node, node, ["use.mjs"])).toBe(`${service.organizationId} ${schema}\n`);
  });
});
