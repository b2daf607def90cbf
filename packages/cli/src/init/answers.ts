import { basename } from "node:path";
import { describeUnconfirmed, isConfirmed } from "../confirmed-links.ts";
import { CliError } from "../errors.ts";
import { readLink } from "../link-file.ts";
import { ask, choose, isInteractive } from "../prompts.ts";
import type { CliContext, Session } from "../session.ts";
import { readStoredRunners } from "../stored-runners.ts";
import { quote } from "./deploy-scripts.ts";
import { type Detected, detectTools, TOOLS, type Tool } from "./detect.ts";

export interface InitOptions {
  project?: string;
  environment?: string[];
  stack?: string[];
  with?: Tool;
  exec?: string;
  pool?: string;
  yes?: boolean;
  profile?: string;
}

/** What `longshore init` sets up. */
export interface Answers {
  project: string;
  /** Whether the user means this project if it exists: a folder may have its name by chance, or a stranger's link. */
  isProjectChosen: boolean;
  /** Empty: the default environment of the project. */
  environments: readonly string[];
  stacks: readonly string[];
  tool: Tool;
  /** The file or the folder that shows the tool. */
  path: string | undefined;
  /** All that the folder shows: a script that is there already may call any of them. */
  detected: readonly Tool[];
  /** With `command` only. */
  command: string | undefined;
}

/** What the folder says. Undefined: nothing that can be used. */
interface Defaults {
  project: string | undefined;
  environment: string | undefined;
  stack: string | undefined;
  tool: Tool;
}

const FIRST_ENVIRONMENT = "production";
/** Of a project. The names of folders may be longer. */
const MAXIMUM_CHARACTERS = 100;

/** For people. */
export const TOOL_NAMES: Record<Tool, string> = {
  script: "a script of your own",
  workers: "wrangler",
  compose: "docker compose",
  terraform: "terraform",
  cloudformation: "aws cloudformation",
  kubernetes: "kubectl",
  command: "another command",
};

/** Asks what the options leave open. With --yes, the folder decides it. */
export async function readAnswers(
  context: CliContext,
  { url }: Session,
  options: InitOptions,
): Promise<Answers> {
  if (options.exec !== undefined && (options.with ?? "command") !== "command") {
    throw new CliError("--exec belongs to --with command. Omit one of them.");
  }
  const file = await readLink(context);
  const link = file?.link;
  const detected = await detectTools(context.folder);
  const folder = nameOf(context.folder);
  const defaults: Defaults = {
    project: link?.project ?? folder,
    environment: link?.environment,
    stack: folder,
    tool: options.exec === undefined ? (detected[0]?.tool ?? "script") : "command",
  };
  const stored = (await readStoredRunners(context.environment)).get(context.folder);
  const isOwnLink = file !== undefined && (await isConfirmed(context, file));
  const isLinkOfUser = stored?.url === url && isOwnLink;
  const asks = isInteractive(context) && !options.yes;
  // Nobody sees the environment that a clone's file names if --yes is given.
  const takesEnvironment = options.yes && options.environment === undefined;
  if (takesEnvironment && file?.link.environment !== undefined && !isOwnLink) {
    throw describeUnconfirmed(file);
  }
  const answers = asks
    ? await askOpen(context, options, defaults, detected)
    : takeDefaults(options, defaults);
  return {
    ...answers,
    environments: unique(answers.environments),
    stacks: unique(answers.stacks),
    isProjectChosen:
      options.project !== undefined || (isLinkOfUser && answers.project === link?.project),
    path: detected.find(({ tool }) => tool === answers.tool)?.path,
    detected: detected.map(({ tool }) => tool),
  };
}

type Given = Pick<Answers, "project" | "environments" | "stacks" | "tool" | "command">;

async function askOpen(
  context: CliContext,
  options: InitOptions,
  defaults: Defaults,
  detected: readonly Detected[],
): Promise<Given> {
  const project = options.project ?? (await ask(context, "Project", defaults.project));
  const environments =
    options.environment ??
    (await askList(context, "Environments", defaults.environment ?? FIRST_ENVIRONMENT));
  const stacks = options.stack ?? (await askList(context, "Stacks", defaults.stack));
  const tool = options.with ?? (options.exec === undefined ? await askTool() : "command");
  const command =
    tool === "command" ? (options.exec ?? (await ask(context, "Command"))) : undefined;
  return { project, environments, stacks, tool, command };

  function askTool(): Promise<Tool> {
    const choices = TOOLS.map((value) => {
      const path = detected.find((each) => each.tool === value)?.path;
      return {
        value,
        label: path === undefined ? TOOL_NAMES[value] : `${TOOL_NAMES[value]} (${path})`,
      };
    });
    return choose(context, "What deploys a stack", choices, "", defaults.tool) as Promise<Tool>;
  }
}

function takeDefaults(options: InitOptions, defaults: Defaults): Given {
  const { exec, yes } = options;
  const { project = defaults.project, stack: stacks = defaults.stack } = options;
  const tool = options.with ?? defaults.tool;
  const missing = [
    ...(options.project === undefined ? [propose("--project", defaults.project)] : []),
    ...(options.environment === undefined
      ? [propose("--environment", defaults.environment ?? FIRST_ENVIRONMENT)]
      : []),
    ...(options.stack === undefined ? [propose("--stack", defaults.stack)] : []),
    ...(options.with === undefined && exec === undefined ? [propose("--with", tool)] : []),
  ];
  if (!yes && missing.length > 0) {
    throw new CliError(`Without a terminal, add ${missing.join(" ")}, or --yes to accept these.`);
  }
  if (project === undefined || stacks === undefined) {
    throw new CliError(
      "The name of this folder cannot be that of a project. Add --project NAME and --stack NAME.",
    );
  }
  if (tool === "command" && exec === undefined) {
    throw new CliError("Add --exec COMMAND: what the runner runs for each stack.");
  }
  const environments = options.environment ?? [defaults.environment ?? []].flat();
  return { project, environments, stacks: [stacks].flat(), tool, command: exec };
}

function propose(option: string, value = "NAME"): string {
  return `${option} ${quote(value)}`;
}

async function askList(context: CliContext, message: string, initial?: string): Promise<string[]> {
  const answer = await ask(context, `${message}, separated by commas`, initial);
  if (answer === initial) return [answer];
  return answer.split(",").flatMap((each) => each.trim() || []);
}

/** Undefined for what no project can be called, such as the root of the disk. */
function nameOf(folder: string): string | undefined {
  const name = basename(folder).trim();
  const isName = /^[^\p{Cc}\p{Cs}\ufffd]+$/u.test(name) && name.length <= MAXIMUM_CHARACTERS;
  return isName ? name : undefined;
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
