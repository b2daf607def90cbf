import { toPattern } from "../../../../src/lib/refused-variables.ts";
import type { DeliveredVariable } from "../api-types.ts";
import { type CommandOptions, type CommandResult, type Program, runCommand } from "../command.ts";
import type { CommandEnvironment, Variable } from "../environment.ts";
import type { StackInput } from "../stack-input.ts";
import { Checkout } from "./checkout.ts";
import type { Executor } from "./executor.ts";
import { TextError } from "./interpolation.ts";
import { resolveSettings } from "./resolve-settings.ts";
import type { SettingValues } from "./setting.ts";
import { at } from "./settings.ts";
import { type ExecutorOptions, type StackPlan, takesEnvironment } from "./stack-plans.ts";

interface StackRun extends Pick<ExecutorOptions, "command"> {
  /** Undefined: the command deploys it. */
  plan: StackPlan | undefined;
  input: StackInput;
  environment: CommandEnvironment;
  hasLfs: boolean;
  variables: readonly DeliveredVariable[];
  /** What the runner tells the command. */
  description: readonly Variable[];
  /** Writes the settings of an executor to a file, whose path it returns. */
  writeSettings(values: SettingValues): string;
}

/** Runs what deploys the stack. */
export async function runPlan(run: StackRun, options: CommandOptions): Promise<CommandResult> {
  const { plan } = run;
  if (!plan) return runCommand(run.command ?? "", createEnvironment(run), options);
  try {
    return await runExecutor(run, plan, options);
  } catch (error) {
    if (error instanceof TextError) return { ok: false, reason: error.message };
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { ok: false, reason: `The checkout could not be written: ${code}.` };
  }
}

function createEnvironment({ environment, variables, description, plan }: StackRun) {
  return takesEnvironment(plan)
    ? environment.create([...variables, ...description])
    : environment.createForTools(description);
}

async function runExecutor(
  run: StackRun,
  { executor, settings, commit }: StackPlan,
  options: CommandOptions,
): Promise<CommandResult> {
  const { input, environment, variables, hasLfs, writeSettings } = run;
  const { source } = input.deployment;
  const resolved = resolveSettings(executor, settings, { ...input, source, variables });
  const checkout = new Checkout(commit, environment, { ...options, hasLfs });
  try {
    const filled = await checkout.fill();
    if (!filled.ok || options.stop.aborted) return { ...filled, ok: false };
    const values = findPaths(executor, checkout, resolved, settings.pointer);
    const program = {
      ...executor.createProgram(values, checkout),
      ...inputOf(executor, variables),
    };
    const settingsFile = { LONGSHORE_SETTINGS_FILE: writeSettings(values) };
    return await runCommand(program, { ...createEnvironment(run), ...settingsFile }, options);
  } finally {
    await checkout.remove();
  }
}

/** No file and no environment of a process has them: both outlive a mistake, and tools read what they find there. */
function inputOf(
  { variables: names }: Executor,
  variables: readonly DeliveredVariable[],
): Pick<Program, "input"> {
  if (names === "environment" || names.length === 0) return {};
  const pattern = toPattern(names, false);
  const taken = variables.filter(({ name }) => pattern.test(name));
  return {
    input: JSON.stringify(Object.fromEntries(taken.map((each) => [each.name, each.value]))),
  };
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
