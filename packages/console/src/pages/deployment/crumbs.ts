import type { Schemas } from "../../api.ts";
import { useQuery } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { titleOf } from "./source.tsx";

/** The pages above a deployment, and its title. */
export function useCrumbs(deployment: Schemas["Deployment"] | undefined) {
  const path = { environment_id: deployment?.environment_id ?? "" };
  const environment = useQuery(deployment && "/v1/environments/{environment_id}", { path });
  const projectId = environment.data?.project_id;
  const project = useQuery(projectId ? "/v1/projects/{project_id}" : undefined, {
    path: { project_id: projectId ?? "" },
  });
  const name = environment.data?.name ?? "environment";
  const crumbs: readonly (readonly [string, string])[] = [
    ["Projects", ROOT],
    [project.data?.name ?? "Project", `${ROOT}projects/${projectId ?? ""}`],
    [name, `${ROOT}environments/${path.environment_id}`],
  ];
  const title = (deployment && titleOf(deployment)) ?? `Deployment to ${name}`;
  return { projectId, crumbs, title };
}
