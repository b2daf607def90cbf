import { ApiError, type Schemas } from "../../../client/src/index.ts";
import { CliError } from "../errors.ts";
import { isId } from "../names.ts";
import type { CliContext, Session } from "../session.ts";
import { type EnvironmentOptions, requireEnvironment } from "../target.ts";
import { describeVariables } from "./changed-variables.ts";

type Deployment = Schemas["Deployment"];

export const DEPLOYMENTS = "/v1/environments/{environment_id}/deployments";

/** Deployments have no names. */
export function readDeployment(session: Session, id: string): Promise<Deployment> {
  if (!isId(id)) {
    throw new CliError(`"${id}" is not the ID of a deployment. Run: longshore deployments ls`);
  }
  return session.client.get("/v1/deployments/{deployment_id}", { path: { deployment_id: id } });
}

interface Wanted {
  statuses?: readonly Deployment["status"][];
  /** What to say if there is none. */
  missing: string;
}

const ANY: Wanted = { missing: "deployments. Run: longshore deploy" };
export const ACTIVE: Wanted = {
  statuses: ["queued", "in_progress", "canceling"],
  missing: "deployment that could be canceled.",
};
export const SUCCEEDED: Wanted = {
  statuses: ["succeeded"],
  missing: "successful deployment to promote.",
};
export const QUEUED: Wanted = { statuses: ["queued"], missing: "queued deployment." };

/** The deployment of the argument, or the newest such one of the environment. */
export async function findDeployment(
  context: CliContext,
  session: Session,
  id: string | undefined,
  options: EnvironmentOptions,
  { statuses, missing }: Wanted = ANY,
): Promise<Deployment> {
  if (id !== undefined) return readDeployment(session, id);
  const { id: environment_id, name } = await requireEnvironment(context, session, options);
  const { rows } = await session.list<Deployment>(DEPLOYMENTS, {
    path: { environment_id },
    query: { limit: 1, status: statuses },
    limit: 1,
  });
  const [newest] = rows;
  if (newest) return newest;
  throw new CliError(`The environment ${name} has no ${missing}`);
}

/** Says which variables a redeployment uses. A key may create one that may not preview it. */
export async function noteVariables(
  { output }: CliContext,
  session: Session,
  id: string,
): Promise<void> {
  const path = { deployment_id: id };
  const preview = await session.client
    .get("/v1/deployments/{deployment_id}/redeployment", { path })
    .catch((error: unknown) => {
      if (error instanceof ApiError) return undefined;
      throw error;
    });
  output.note(describeVariables(preview?.changed_variables));
}

/** The project and the environment by name. Whoever may read a deployment may be unable to read the names. */
export async function readPlace(
  { client }: Session,
  environmentId: string,
): Promise<{ environment: string; project?: string }> {
  try {
    const path = { environment_id: environmentId };
    const { name, project_id } = await client.get("/v1/environments/{environment_id}", { path });
    const project = await client.get("/v1/projects/{project_id}", { path: { project_id } });
    return { environment: name, project: project.name };
  } catch (error) {
    if (error instanceof ApiError) return { environment: environmentId };
    throw error;
  }
}

/** A deployment of the same configuration and source. */
export function redeploy(session: Session, id: string): Promise<Deployment> {
  return session.client.post("/v1/deployments/{deployment_id}/redeploy", {
    path: { deployment_id: id },
  });
}
