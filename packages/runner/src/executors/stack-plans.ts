import type { Completion, Source } from "../api-types.ts";
import type { StackInput } from "../stack-input.ts";
import { type GitCommit, readCommit } from "./checkout.ts";
import type { Executor } from "./executor.ts";
import { TextError } from "./interpolation.ts";
import { quote } from "./quote.ts";
import { nameOfRepository, type Repository } from "./repositories.ts";
import { at, checkSettings, type GivenSettings } from "./settings.ts";

/** The server accepts messages of 2,000 characters. */
const MAXIMUM_MESSAGE_LENGTH = 1_500;

/** What the operator has allowed. */
export interface ExecutorOptions {
  /** The shell command for stacks whose configuration names no executor. */
  command: string | undefined;
  executors: readonly Executor[];
  repositories: readonly Repository[];
  /** The names of `--backend-allow`. */
  backendMembers?: readonly string[];
}

/** The executor of a stack, and its settings, which are checked. */
export interface StackPlan {
  executor: Executor;
  settings: GivenSettings;
  commit: GitCommit;
}

/** Whether what runs for the stack is a command or a script, whose environment has the variables. */
export function takesEnvironment(plan: StackPlan | undefined): boolean {
  return plan === undefined || plan.executor.variables === "environment";
}

/** What is wrong, for programs and for people. */
class Refusal extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The executors of those stacks that have one, or how to complete a deployment of which nothing may run. */
export function planStacks(
  inputs: readonly StackInput[],
  options: ExecutorOptions,
): Map<string, StackPlan> | Completion {
  const plans = new Map<string, StackPlan>();
  const refusals: Refusal[] = [];
  for (const input of inputs) {
    try {
      const plan = planStack(input, options);
      if (plan) plans.set(input.stack.id, plan);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusals.push(error);
    }
  }
  const [first] = refusals;
  if (first === undefined) return plans;
  const text = [...new Set(refusals.map(({ message }) => message))].join(" ");
  const isLong = text.length > MAXIMUM_MESSAGE_LENGTH;
  // The cut may divide a character.
  const message = isLong ? `${text.slice(0, MAXIMUM_MESSAGE_LENGTH).toWellFormed()}…` : text;
  return { outcome: "failed", failure_reason: first.reason, message };
}

function planStack(input: StackInput, options: ExecutorOptions): StackPlan | undefined {
  const settings = findSettings(input);
  const { executor: name } = settings.values;
  if (typeof name !== "string") {
    if (options.command !== undefined) return undefined;
    throw new Refusal("executor_missing", withoutExecutor(settings.pointer, options));
  }
  const executor = options.executors.find((each) => each.name === name);
  if (!executor) throw new Refusal("executor_missing", unknownExecutor(name, settings, options));
  const problems = checkSettings(executor, settings, options.backendMembers ?? []);
  if (problems.length > 0) throw new Refusal("settings_refused", problems.join(" "));
  return { executor, settings, commit: findCommit(input.deployment.source, options) };
}

/** The object of the stack in the configuration; without values if there is none. */
function findSettings({ configuration, stack }: StackInput): GivenSettings {
  const stacks = readMember(configuration, "stacks");
  const name = keyOf(stacks, stack.name);
  const values = readMember(stacks, name);
  return { pointer: at("/stacks", name), values: isObject(values) ? values : {} };
}

/** The service stores names in NFC, and a configuration as somebody has written it. */
function keyOf(stacks: unknown, name: string): string {
  if (!isObject(stacks) || Object.hasOwn(stacks, name)) return name;
  return Object.keys(stacks).find((key) => key.normalize() === name.normalize()) ?? name;
}

function readMember(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withoutExecutor(pointer: string, { executors }: ExecutorOptions): string {
  return (
    `${pointer}/executor is missing in the configuration, and the runner has no --exec for such stacks. Set it to ` +
    `one of: ${listNames(executors)}.`
  );
}

function unknownExecutor(
  name: string,
  { pointer }: GivenSettings,
  options: ExecutorOptions,
): string {
  return (
    `${pointer}/executor is ${quote(name)}, which this runner does not run. It runs: ` +
    `${listNames(options.executors)}. Its operator adds others with --executor.`
  );
}

function listNames(executors: readonly Executor[]): string {
  return executors.map(({ name }) => name).join(", ") || "none";
}

function findCommit(source: Source | undefined, { repositories }: ExecutorOptions): GitCommit {
  const git = source?.git;
  if (!git) {
    throw new Refusal(
      "source_refused",
      "The source of the deployment has no git commit to check out.",
    );
  }
  const name = nameOfRepository(git);
  const repository = repositories.find((each) => each.name === name);
  if (!repository) {
    throw new Refusal(
      "source_refused",
      `The runner does not check out ${quote(name)}. Its operator allows a repository with --repository.`,
    );
  }
  try {
    return readCommit(git, repository);
  } catch (error) {
    if (error instanceof TextError) throw new Refusal("source_refused", error.message);
    throw error;
  }
}
