import { writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import type { SettingValues } from "../../../runner/src/executors/setting.ts";
import { type ProgramContext, ProgramError } from "../../program/src/index.ts";
import { type ComposeFile, readComposeFile, refuseLocalFiles } from "./compose-file.ts";
import type { Docker } from "./docker.ts";
import { renderEnvFile } from "./env-file.ts";
import { readDocuments, selectNamed } from "./named-variables.ts";
import type { SETTINGS } from "./settings.ts";

export type ComposeValues = SettingValues<typeof SETTINGS>;

/** A project of Compose, whose files are resolved once: what is in the log is what is deployed, and what is kept. */
export class Project {
  readonly name: string;
  readonly file: ComposeFile;
  readonly #docker: Docker;
  readonly #path: string;

  private constructor(docker: Docker, name: string, file: ComposeFile, path: string) {
    this.name = name;
    this.file = file;
    this.#docker = docker;
    this.#path = path;
  }

  /** Prints the files into the log, without the values of variables. */
  static async resolve(
    docker: Docker,
    name: string,
    { settings, variables: given, folder }: ProgramContext<ComposeValues>,
  ): Promise<Project> {
    const { files = [], variables = {}, profiles = [] } = settings;
    if (files.length === 0)
      throw new ProgramError("The setting files must have at least one file.");
    const envFile = join(folder, "compose.env");
    writeFileSync(envFile, renderEnvFile(variables), { mode: 0o600 });
    removeVariables(Object.keys(variables));
    const args = [
      ...["compose", `--project-name=${name}`, `--env-file=${envFile}`],
      ...files.map((file) => `--file=${file}`),
      ...profiles.map((profile) => `--profile=${profile}`),
      "config",
    ];
    const problem = "docker compose config fails. The log says what is wrong with the files.";
    const unresolved = await docker.read([...args, "--no-interpolate"], problem);
    console.log(unresolved);
    const others = Object.entries(given).filter(([each]) => !Object.hasOwn(variables, each));
    const named = selectNamed(Object.fromEntries(others), readDocuments(files, unresolved));
    const own = docker.with(named);
    const file = readComposeFile(await own.read([...args, "--format=json"], problem), name);
    refuseLocalFiles(file, process.cwd());
    return Project.of(own, name, file, folder);
  }

  /** Of files that are resolved. */
  static of(docker: Docker, name: string, file: ComposeFile, folder: string): Project {
    const path = join(folder, "compose.resolved.json");
    writeFileSync(path, JSON.stringify(file), { mode: 0o600 });
    return new Project(docker, name, file, path);
  }

  get services(): string[] {
    return Object.keys(this.file.services);
  }

  /** Runs a command of Compose. Returns whether it has succeeded. */
  async run(...args: string[]): Promise<boolean> {
    return (await this.#docker.run([...this.#args, ...args])).code === 0;
  }

  /** The hashes of the services, which Compose compares with those of their containers. */
  async readHashes(): Promise<Map<string, string>> {
    const problem = "docker compose config fails. The log says why.";
    const lines = await this.#docker.readLines([...this.#args, "config", "--hash=*"], problem);
    return new Map(
      lines.map((line) => {
        const [service = "", hash = ""] = line.split(" ");
        return [service, hash];
      }),
    );
  }

  get #args(): string[] {
    const file = `--file=${this.#path}`;
    return ["compose", `--project-name=${this.name}`, `--env-file=${devNull}`, "--profile=*", file];
  }
}

/** In the environment, they would replace those of the file, and Compose has options with such names. */
function removeVariables(names: readonly string[]): void {
  const options = Object.keys(process.env).filter((name) => name.startsWith("COMPOSE_"));
  for (const name of [...options, ...names]) delete process.env[name];
}
