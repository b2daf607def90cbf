import { createHash } from "node:crypto";
import { basename } from "node:path";
import { CliError } from "../../cli/src/errors.ts";
import { KINDS } from "../../cli/src/named-kinds.ts";
import { findRecord } from "../../cli/src/names.ts";
import type { Session } from "../../cli/src/session.ts";
import { ApiError, type Schemas } from "../../client/src/index.ts";
import type { Inputs } from "./inputs.ts";

type Project = Schemas["Project"];
type Environment = Schemas["Environment"];
type Stack = Schemas["Stack"];
type Source = Schemas["DeploymentSourceInput"];

const ID = /^[1-9A-HJ-NP-Za-km-z]{22}$/;
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

export interface Target {
  environmentId: string;
  /** The ID if the environment is given by its ID only: reading it needs another scope. */
  environmentName: string;
}

export async function findEnvironment(
  session: Session,
  { project, environment }: Inputs,
): Promise<Target> {
  if (project === undefined) {
    if (ID.test(environment)) return { environmentId: environment, environmentName: environment };
    throw new CliError(`Set the input project: the environment "${environment}" is a name.`);
  }
  const { id } = await findRecord<Project>(session, KINDS.project, {}, project);
  const path = { project_id: id };
  const found = await findRecord<Environment>(session, KINDS.environment, path, environment);
  if (found.project_id === id) return { environmentId: found.id, environmentName: found.name };
  throw new CliError(`The environment ${environment} is not one of the project ${project}.`);
}

/** None if the key may not read them. They have names for the log, and for the input stacks. */
export async function listStacks(session: Session, environmentId: string): Promise<Stack[]> {
  const options = { path: { environment_id: environmentId }, limit: MAXIMUM_STACKS };
  try {
    return (await session.list<Stack>(KINDS.stack.listPath, options)).rows;
  } catch (error) {
    if (error instanceof ApiError && error.code === "unauthorized") return [];
    throw error;
  }
}

/** The stacks of the input, in its order, by ID or else by name. */
export function selectStacks(stacks: readonly Stack[], given: readonly string[]): string[] {
  return given.map((text) => {
    const found =
      stacks.find(({ id }) => id === text) ??
      stacks.find(({ name }) => name.normalize() === text.normalize());
    if (found) return found.id;
    if (ID.test(text)) return text;
    throw new CliError(`The environment has no stack "${text}", or the key may not read stacks.`);
  });
}

export function createDeployment(
  session: Session,
  environmentId: string,
  stackIds: string[] | undefined,
  { patch, source, reason }: Pick<Inputs, "patch" | "reason"> & { source: Source },
  { signal, idempotencyKey }: { signal: AbortSignal; idempotencyKey: string | undefined },
): Promise<Schemas["Deployment"]> {
  return session.client.post("/v1/environments/{environment_id}/deployments", {
    path: { environment_id: environmentId },
    body: {
      // The service validates the operations.
      ...(patch && { patch: patch as unknown as Schemas["PatchOperationInput"][] }),
      ...(Object.keys(source).length > 0 && { source }),
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
