import { createHash } from "node:crypto";
import { basename } from "node:path";
import { CliError } from "../../cli/src/errors.ts";
import { KINDS } from "../../cli/src/kinds.ts";
import { findRecord } from "../../cli/src/names.ts";
import type { Session } from "../../cli/src/session.ts";
import type { Schemas } from "../../client/src/index.ts";
import type { Inputs } from "./inputs.ts";

type Project = Schemas["Project"];
type Environment = Schemas["Environment"];
type Stack = Schemas["Stack"];

/** More than an environment can have. */
const MAXIMUM_STACKS = 10_000;
/** What identifies one execution of one step. GitHub makes the file of the outputs for each. */
const STEP = [
  "GITHUB_REPOSITORY",
  "GITHUB_RUN_ID",
  "GITHUB_RUN_ATTEMPT",
  "GITHUB_JOB",
  "GITHUB_ACTION",
] as const;

export async function findEnvironment(
  session: Session,
  { project, environment }: Inputs,
): Promise<Environment> {
  if (project === undefined) return readEnvironment(session, environment);
  const { id } = await findRecord<Project>(session, KINDS.project, {}, project);
  const path = { project_id: id };
  const found = await findRecord<Environment>(session, KINDS.environment, path, environment);
  if (found.project_id === id) return found;
  throw new CliError(`The environment ${environment} is not one of the project ${project}.`);
}

function readEnvironment(session: Session, id: string): Promise<Environment> {
  if (!/^[1-9A-HJ-NP-Za-km-z]{22}$/.test(id)) {
    throw new CliError(`Set the input project: the environment "${id}" is a name.`);
  }
  return session.read("/v1/environments/{environment_id}", { path: { environment_id: id } });
}

export async function listStacks(session: Session, environmentId: string): Promise<Stack[]> {
  const { rows } = await session.list<Stack>(KINDS.stack.listPath, {
    path: { environment_id: environmentId },
    limit: MAXIMUM_STACKS,
  });
  return rows;
}

/** The stacks of the input, in its order, by ID or else by name. */
export function selectStacks(stacks: readonly Stack[], given: readonly string[]): string[] {
  return given.map((text) => {
    const byName = stacks.filter(({ name }) => name === text);
    const [found, other] = stacks.some(({ id }) => id === text) ? [{ id: text }] : byName;
    if (!found) throw new CliError(`There is no stack "${text}" in the environment.`);
    if (other) throw new CliError(`"${text}" is the name of two stacks. Use an ID.`);
    return found.id;
  });
}

export function createDeployment(
  session: Session,
  environmentId: string,
  stackIds: string[] | undefined,
  inputs: Inputs,
  { signal, idempotencyKey }: { signal: AbortSignal; idempotencyKey: string | undefined },
): Promise<Schemas["Deployment"]> {
  const { patch, image, reason } = inputs;
  return session.client.post("/v1/environments/{environment_id}/deployments", {
    path: { environment_id: environmentId },
    body: {
      // The service validates the operations.
      ...(patch && { patch: patch as unknown as Schemas["PatchOperationInput"][] }),
      ...(image !== undefined && { source: { registry: { image } } }),
      ...(stackIds && { stack_ids: stackIds }),
      ...(reason !== undefined && { reason }),
    },
    signal,
    idempotencyKey,
  });
}

/** The same for each process of one step. A step of a run that is repeated has another one. */
export function stepKey(environment: NodeJS.Dict<string>): string | undefined {
  const output = environment["GITHUB_OUTPUT"];
  const values = STEP.map((name) => environment[name]);
  if (!output || values.some((value) => !value)) return undefined;
  const hash = createHash("sha256").update(JSON.stringify([...values, basename(output)]));
  return `github-${hash.digest("hex")}`;
}
