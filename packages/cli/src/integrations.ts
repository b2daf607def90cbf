import type { Schemas } from "../../client/src/index.ts";
import { CliError } from "./errors.ts";
import { isId } from "./names.ts";
import type { CliContext, Session } from "./session.ts";
import { type ProjectOptions, requireProject } from "./target.ts";

/** The integration of the project with this ID. Integrations have no names. */
export async function requireIntegration(
  context: CliContext,
  session: Session,
  options: ProjectOptions,
  id: string,
): Promise<Schemas["Integration"]> {
  if (!isId(id)) {
    throw new CliError(`"${id}" is not the ID of an integration. Run: longshore integrations ls`);
  }
  const project = await requireProject(context, session, options);
  return session.client.get(
    "/v1/projects/{project_id}/notification-integrations/{integration_id}",
    { path: { project_id: project.id, integration_id: id } },
  );
}
