import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, buildSync, type Metafile } from "esbuild";
import { ROOT } from "./wrangler.ts";

/** A program of packages/ in one file, which needs nothing but Node. */
export interface Program {
  entry: string;
  /** The folder of `fileName` and of the licenses. */
  folder: string;
  fileName: string;
  /** Default: `LICENSES_FILE`. */
  licensesFile?: string;
  options: BuildOptions;
}

export const LICENSES_FILE = "licenses.txt";
const EXECUTABLE = 0o755;
const READABLE = 0o644;

/** What CommonJS packages in the bundle expect. */
const COMMONJS = [
  'import { createRequire as createRequireOfNode } from "node:module";',
  "const require = createRequireOfNode(import.meta.url);",
  "const __filename = import.meta.filename;",
].join("\n");

export const CLI_PROGRAM: Program = {
  entry: "packages/cli/src/main.ts",
  folder: join(ROOT, "packages/cli/dist"),
  fileName: "longshore.js",
  options: { target: "node20.12", minify: true },
};

export const RUNNER_PROGRAM: Program = {
  entry: "packages/runner/src/main.ts",
  folder: join(ROOT, "packages/runner/dist"),
  fileName: "longshore-runner.js",
  options: { target: "node20.12" },
};

/** The programs that `--executor` runs, by the names of their folders in packages/executors. */
const EXECUTOR_NAMES: readonly string[] = [
  "cloudformation",
  "compose",
  "kubernetes",
  "terraform",
  "workers",
];

const ENTRIES = [
  ...EXECUTOR_NAMES.map((name) => ({ name, entry: `packages/executors/${name}/src/main.ts` })),
  // Node before 24.14 loads it if it is behind a proxy.
  { name: "proxies", entry: "packages/runner/src/proxy-agent.ts" },
];

/**
 * Miniflare reads files of its own package, and starts the program of another. The features name the tables of a backup;
 * their routes are in the Worker's bundle, and are never loaded here.
 */
export const SERVER_PROGRAM: Program = {
  entry: "packages/server/src/main.ts",
  folder: join(ROOT, "packages/server/dist"),
  fileName: "longshore-server.js",
  options: { target: "node22.13", minify: true, external: ["miniflare", "*routes.ts"] },
};

/** They are beside what starts them: the runner, and the command line, which contains it. */
export const EXECUTOR_PROGRAMS: readonly Program[] = [RUNNER_PROGRAM, CLI_PROGRAM].flatMap(
  ({ folder }) =>
    ENTRIES.map(({ name, entry }) => ({
      entry,
      folder: join(folder, "executors"),
      fileName: `${name}.js`,
      licensesFile: `${name}.licenses.txt`,
      options: { target: "node20.12", minify: true },
    })),
);

/** Not minified, because its bundle is in the repository and is reviewed. */
export const ACTION_PROGRAM: Program = {
  entry: "packages/action/src/main.ts",
  folder: join(ROOT, "packages/action/dist"),
  fileName: "index.js",
  options: { target: "node24" },
};

/** The files of the program by their names. */
export function bundleProgram({
  entry,
  fileName,
  licensesFile = LICENSES_FILE,
  options,
}: Program): Map<string, string> {
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile: fileName,
    bundle: true,
    platform: "node",
    format: "esm",
    charset: "utf8",
    legalComments: "none",
    logLevel: "error",
    ...options,
    write: false,
    metafile: true,
  });
  const packages = packagesOf(metafile);
  const code = outputFiles.map(({ text }) => text).join("");
  const files = new Map([[fileName, packages.length > 0 ? addCommonJs(code) : code]]);
  if (packages.length > 0) files.set(licensesFile, readLicenses(packages));
  return files;
}

export function writeProgram(program: Program): void {
  writeFiles(program.folder, bundleProgram(program));
}

/** Bundles what is in several folders once. */
export function writePrograms(programs: readonly Program[]): void {
  const bundled = new Map<string, Map<string, string>>();
  for (const { folder, ...program } of programs) {
    const key = JSON.stringify(program);
    const files = bundled.get(key) ?? bundleProgram({ folder, ...program });
    bundled.set(key, files);
    writeFiles(folder, files);
  }
}

/** Replaces each file as a whole, because programs may be starting from it. */
function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) {
    const file = join(folder, name);
    const written = `${file}.${process.pid}`;
    writeFileSync(written, text, { mode: text.startsWith("#!") ? EXECUTABLE : READABLE });
    renameSync(written, file);
  }
}

/** After the first line, which names the interpreter. */
function addCommonJs(code: string): string {
  const [first = "", ...rest] = code.split("\n");
  return first.startsWith("#!")
    ? [first, COMMONJS, ...rest].join("\n")
    : [COMMONJS, first, ...rest].join("\n");
}

/** The folders of the packages that the bundle contains. */
function packagesOf({ outputs }: Metafile): string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const folders = inputs.flatMap(([path, { bytesInOutput }]) => {
    const [folder] = /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    return folder !== undefined && bytesInOutput > 0 ? [join(ROOT, folder)] : [];
  });
  return [...new Set(folders)].toSorted();
}

/** The licenses demand that copies contain them. */
function readLicenses(folders: readonly string[]): string {
  const packages = folders.map(readPackage);
  return packages
    .map(({ name, version, license, text, repository }) => {
      // Several packages of one repository may have the file only once. That of Apache names nobody.
      const shared = packages.find(
        (each) =>
          each.text !== undefined &&
          each.license === license &&
          (each.repository === repository || license === "Apache-2.0"),
      );
      const found = text ?? shared?.text;
      if (found === undefined) throw new Error(`${name} has no license file.`);
      return `${name} ${version} (${license})\n\n${found.trim()}\n`;
    })
    .join("\n");
}

function readPackage(folder: string) {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { name, version, license, repository } = manifest;
  const file = readdirSync(folder).find((each) => /^licen[cs]e\b/i.test(each));
  return {
    name: String(name),
    version: String(version),
    license: String(license),
    /** Undefined is the repository of no other package. */
    repository: repository?.url ?? folder,
    text: file === undefined ? undefined : readFileSync(join(folder, file), "utf8"),
  };
}
