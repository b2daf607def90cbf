import type { Schemas } from "../../api.ts";
import { useEnvironmentCrumbs } from "../crumbs.ts";
import { titleOf } from "./source.tsx";

/** The pages above a deployment, and its title. */
export function useCrumbs(deployment: Schemas["Deployment"] | undefined) {
  const { projectId, name, crumbs } = useEnvironmentCrumbs(deployment?.environment_id);
  const title = (deployment && titleOf(deployment)) ?? `Deployment to ${name}`;
  return { projectId, crumbs, title };
}
