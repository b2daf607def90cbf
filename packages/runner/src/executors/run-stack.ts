import type { DeliveredVariable } from "../api-types.ts";
import { type CommandOptions, type CommandResult, runCommand } from "../command.ts";
import type { CommandEnvironment, Variable } from "../environment.ts";
import type { StackInput } from "../stack-input.ts";
import { Checkout } from "./checkout.ts";
import type { Executor } from "./executor.ts";
import { TextError } from "./interpolation.ts";
import { resolveSettings } from "./resolve-settings.ts";
import type { SettingValues } from "./setting.ts";
import { at } from "./settings.ts";
import type { ExecutorOptions, StackPlan } from "./stack-plans.ts";

interface StackRun extends Pick<ExecutorOptions, "command"> {
  /** Undefined: the command deploys it. */
  plan: StackPlan | undefined;
  input: StackInput;
  environment: CommandEnvironment;
  variables: readonly DeliveredVariable[];
  /** What the runner tells the command. */
  description: readonly Variable[];
  /** Writes the settings of an executor to a file, whose path it returns. */
  writeSettings(values: SettingValues): string;
}

/** Runs what deploys the stack. */
export async function runPlan(run: StackRun, options: CommandOptions): Promise<CommandResult> {
  const { plan, environment } = run;
  const env = environment.create([...run.variables, ...run.description]);
  if (!plan) return runCommand(run.command ?? "", env, options);
  try {
    return await runExecutor(run, plan, env, options);
  } catch (error) {
    if (error instanceof TextError) return { ok: false, reason: error.message };
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { ok: false, reason: `The checkout could not be written: ${code}.` };
  }
}

async function runExecutor(
  { input, environment, variables, writeSettings }: StackRun,
  { executor, settings, commit }: StackPlan,
  env: NodeJS.Dict<string>,
  options: CommandOptions,
): Promise<CommandResult> {
  const { source } = input.deployment;
  const resolved = resolveSettings(executor, settings, { ...input, source, variables });
  const checkout = new Checkout(commit, environment, options);
  try {
    const filled = await checkout.fill();
    if (!filled.ok || options.stop.aborted) return { ...filled, ok: false };
    const values = findPaths(executor, checkout, resolved, settings.pointer);
    const program = executor.createProgram(values, checkout);
    const settingsFile = { LONGSHORE_SETTINGS_FILE: writeSettings(values) };
    return await runCommand(program, { ...env, ...settingsFile }, options);
  } finally {
    await checkout.remove();
  }
}

function findPaths(
  { settings }: Executor,
  checkout: Checkout,
  values: SettingValues,
  pointer: string,
): SettingValues {
  const found = Object.entries(values).map(([name, value]) => {
    const place = at(pointer, name);
    const type = settings[name]?.type;
    if (type === "files" && Array.isArray(value)) {
      return [
        name,
        value.map((path, index) => checkout.findPath(`${place}/${index}`, path, "file")),
      ];
    }
    const isPath = type === "file" || type === "folder" || type === "path";
    if (!isPath || typeof value !== "string") return [name, value];
    return [name, checkout.findPath(place, value, type)];
  });
  return Object.fromEntries(found);
}
