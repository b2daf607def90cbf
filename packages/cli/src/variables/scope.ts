import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { COMPONENTS } from "../commands/components.ts";
import { CliError } from "../errors.ts";
import { find } from "../resource.ts";
import type { CliContext, Session } from "../session.ts";
import { addEnvironmentOption, type EnvironmentOptions, requireEnvironment } from "../target.ts";

export type Variable = Schemas["Variable"];
export type VariableInput = Schemas["VariableInput"];
export type StorageMethod = Schemas["StorageMethod"];

/** A variable with its value. */
export type RevealedVariable = Schemas["RevealedVariable"];

export interface ScopeOptions extends EnvironmentOptions {
  component?: string;
}

/** An environment or a component, whose variables a command reads or writes. */
export interface VariableScope {
  /** For people. */
  title: string;
  environmentId: string;
  /** Of the list of its variables. */
  path: string;
}

/** More than an environment can have. */
const MAXIMUM_VARIABLES = 10_000;
/** The service writes so many at once, all or none. */
export const MAXIMUM_WRITTEN = 200;

export function addScopeOptions(command: Command): Command {
  return addEnvironmentOption(command).option(
    "--component <name>",
    "the variables of this component, by name or ID, instead of those of the environment",
  );
}

export async function requireScope(
  context: CliContext,
  session: Session,
  options: ScopeOptions,
): Promise<VariableScope> {
  if (options.component === undefined) {
    return environmentScope(await requireEnvironment(context, session, options));
  }
  const { record } = await find(context, session, COMPONENTS, options, options.component);
  return {
    title: `the component ${record.name}`,
    environmentId: record.environment_id,
    path: `/v1/components/${record.id}/variables`,
  };
}

export function environmentScope({ id, name }: { id: string; name: string }): VariableScope {
  return {
    title: `the environment ${name}`,
    environmentId: id,
    path: `/v1/environments/${id}/variables`,
  };
}

/** In alphabetical order. */
export async function listVariables(
  session: Session,
  { path }: VariableScope,
): Promise<Variable[]> {
  const { rows } = await session.list<Variable>(path, { limit: MAXIMUM_VARIABLES });
  return rows.toSorted(byName);
}

/** In alphabetical order. The audit log records that the values were read. */
export async function revealVariables(
  session: Session,
  scope: VariableScope,
): Promise<RevealedVariable[]> {
  const page = await session.read<{ data: RevealedVariable[] }>(`${scope.path}/values`);
  return page.data.toSorted(byName);
}

export async function revealVariable(session: Session, id: string): Promise<string> {
  const { value } = await session.client.get("/v1/variables/{variable_id}/value", {
    path: { variable_id: id },
  });
  return value;
}

/** All or none. `replace` deletes the variables that are not among these. Prints the warnings of the service. */
export async function writeVariables(
  { output }: CliContext,
  session: Session,
  scope: VariableScope,
  mode: "merge" | "replace",
  variables: readonly VariableInput[],
): Promise<void> {
  if (variables.length > MAXIMUM_WRITTEN) {
    throw new CliError(
      `These are ${variables.length} variables, and ${MAXIMUM_WRITTEN} can be written at once, all or none. ` +
        "Write fewer: a part of the file, without --replace. Nothing was changed.",
    );
  }
  const body = { mode, variables };
  const response = await session.client.request("PUT", scope.path, { body });
  const { data } = (await response.json()) as { data: Variable[] };
  const written = new Set(variables.map(({ name }) => name));
  for (const { name, warning } of data.toSorted(byName)) {
    if (warning !== undefined && written.has(name))
      output.note(`Warning about ${name}: ${warning}`);
  }
}

/** What the service accepts as the name of a variable. */
export function requireVariableNames(names: Iterable<string>, source: string): void {
  const refused = [...names].filter((name) => !/^[A-Za-z_]\w{0,254}$/.test(name));
  if (refused.length === 0) return;
  throw new CliError(
    `${source}: ${refused.map((name) => JSON.stringify(name)).join(", ")} cannot be the name of a variable. ` +
      "Use at most 255 letters, digits and _, not beginning with a digit. Nothing was changed.",
  );
}

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : 1;
}
