import { useQuery } from "../query.ts";
import { ROOT } from "../router.ts";

export type Crumbs = readonly (readonly [label: string, href: string])[];

/** The way from the projects to a project, with its name once that is read. */
export function useProjectCrumbs(projectId: string | undefined): Crumbs {
  const project = useQuery(projectId ? "/v1/projects/{project_id}" : undefined, {
    path: { project_id: projectId ?? "" },
  });
  return [
    ["Projects", ROOT],
    [project.data?.name ?? "Project", `${ROOT}projects/${projectId ?? ""}`],
  ];
}

/** The way from the projects to an environment, which is undefined until what is in it was read. */
export function useEnvironmentCrumbs(environmentId: string | undefined) {
  const environment = useQuery(environmentId ? "/v1/environments/{environment_id}" : undefined, {
    path: { environment_id: environmentId ?? "" },
  });
  const projectId = environment.data?.project_id;
  const name = environment.data?.name ?? "environment";
  const crumbs: Crumbs = [
    ...useProjectCrumbs(projectId),
    [name, `${ROOT}environments/${environmentId ?? ""}`],
  ];
  return { projectId, name, crumbs };
}
