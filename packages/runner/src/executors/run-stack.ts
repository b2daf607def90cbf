import type { DeliveredVariable } from "../api-types.ts";
import { type CommandOptions, type CommandResult, runCommand } from "../command.ts";
import type { CommandEnvironment, Variable } from "../environment.ts";
import type { StackInput } from "../stack-input.ts";
import { Checkout } from "./checkout.ts";
import type { Executor, SettingValues } from "./executor.ts";
import { TextError } from "./interpolation.ts";
import { resolveSettings } from "./settings.ts";
import type { ExecutorOptions, StackPlan } from "./stack-plans.ts";

interface StackRun extends Pick<ExecutorOptions, "command"> {
  /** Undefined: the command deploys it. */
  plan: StackPlan | undefined;
  input: StackInput;
  environment: CommandEnvironment;
  variables: readonly DeliveredVariable[];
  /** What the runner tells the command. */
  description: readonly Variable[];
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
  { input, environment, variables }: StackRun,
  { executor, settings, commit }: StackPlan,
  env: NodeJS.Dict<string>,
  options: CommandOptions,
): Promise<CommandResult> {
  const { source } = input.deployment;
  const values = resolveSettings(executor, settings, { ...input, source, variables });
  const checkout = new Checkout(commit, environment, options);
  try {
    const filled = await checkout.fill();
    if (!filled.ok || options.stop.aborted) return { ...filled, ok: false };
    const program = executor.createProgram(
      findFiles(executor, checkout, values, settings.pointer),
      checkout,
    );
    return await runCommand(program, env, options);
  } finally {
    await checkout.remove();
  }
}

function findFiles(
  { settings }: Executor,
  checkout: Checkout,
  values: SettingValues,
  pointer: string,
): SettingValues {
  const files = Object.entries(values).flatMap(([name, value]) =>
    settings[name]?.type === "file" && typeof value === "string"
      ? [[name, checkout.findFile(`${pointer}/${name}`, value)]]
      : [],
  );
  return { ...values, ...Object.fromEntries(files) };
}
