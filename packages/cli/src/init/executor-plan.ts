import type { Schemas } from "../../../client/src/index.ts";
import { EXECUTORS } from "../../../runner/src/executors/list.ts";
import { CliError } from "../errors.ts";
import { findGitFolder, type GitFolder, nameOf } from "../git/remote.ts";
import type { CliContext, Session } from "../session.ts";
import type { Answers } from "./answers.ts";
import { USUAL_PATHS } from "./deploy-scripts.ts";
import type { Tool } from "./detect.ts";

type Environment = Schemas["Environment"];
type Settings = Readonly<Record<string, unknown>>;

/** What the configuration gets for a stack, and the runner for the folder. */
export interface ExecutorPlan {
  executor: Tool;
  settings: Settings;
  repository: string;
}

/** The settings for a file of the folder, or for the folder itself, by their paths in the repository. */
const SETTINGS: Partial<Record<Tool, (path: string, folder: Settings) => Settings>> = {
  script: (path) => ({ path }),
  // The environment of wrangler, or the end of the name of the Worker.
  workers: (_, folder) => ({ ...folder, environment: reference("environment.name") }),
  terraform: (_, folder) => folder,
  cloudformation: (path) => ({ template: path }),
  compose: (path) => ({ files: [path] }),
  kubernetes: (path) => ({
    path,
    namespace: reference("environment.name"),
    create_namespace: true,
  }),
};

/**
 * Undefined: a command of the folder deploys it. An executor needs a repository that the runner can check out; a
 * `deploy.sh` is started as a command, unless `--with script` asks for the executor.
 */
export function planExecutor(
  context: CliContext,
  { tool, path }: Pick<Answers, "tool" | "path">,
  options: { with?: Tool },
): ExecutorPlan | undefined {
  if (tool === "script" && options.with !== "script") return undefined;
  if (!EXECUTORS.some(({ name }) => name === tool)) return undefined;
  const git = findGitFolder(context);
  const settings = git && settingsOf(tool, path, git);
  if (settings) return { executor: tool, settings, repository: nameOf(git.repository) };
  context.output.note(
    "The folder has no git remote `origin` with https, ssh or file that an executor could check out, so the runner " +
      "gets a command.",
  );
  return undefined;
}

export function settingsOf(
  tool: Tool,
  path: string | undefined,
  { prefix }: Pick<GitFolder, "prefix">,
): Settings | undefined {
  const folder = prefix === "" ? {} : { folder: prefix.replace(/\/$/, "") };
  return SETTINGS[tool]?.(`${prefix}${path ?? USUAL_PATHS[tool] ?? ""}`, folder);
}

/** Names the executor of each stack that has none. */
export async function writeConfigurations(
  { output }: CliContext,
  { client }: Session,
  environments: readonly Environment[],
  stacks: readonly string[],
  { executor, settings }: ExecutorPlan,
): Promise<void> {
  const path = "/v1/environments/{environment_id}";
  for (const { id, name: environmentName } of environments) {
    let added: string[] = [];
    await client.update(path, { path: { environment_id: id } }, ({ name, configuration }) => {
      const given = requireObject(configuration["stacks"] ?? {}, "/stacks", environmentName);
      added = stacks.filter((stack) => !hasExecutor(given[stack]));
      if (added.length === 0) return undefined;
      const entries = added.map((stack) => {
        const before = requireObject(given[stack] ?? {}, `/stacks/${stack}`, environmentName);
        return [stack, { ...before, executor, ...settings }];
      });
      const changed = { ...given, ...Object.fromEntries(entries) };
      return { name, configuration: { ...configuration, stacks: changed } };
    });
    for (const stack of stacks) {
      const what = added.includes(stack) ? "Set" : "Uses";
      output.note(`${what} the executor of ${stack} in the configuration of ${environmentName}.`);
    }
  }
}

function hasExecutor(value: unknown): boolean {
  return isObject(value) && typeof value["executor"] === "string";
}

function requireObject(value: unknown, pointer: string, environment: string): Settings {
  if (isObject(value)) return value;
  throw new CliError(
    `${pointer} is no object in the configuration of ${environment}, so it can name no executor. Change it, and repeat.`,
  );
}

function isObject(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function reference(name: string): string {
  return `\${${name}}`;
}
