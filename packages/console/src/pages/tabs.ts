import type { ComponentType } from "preact";
import type { Can } from "../access.ts";
import type { Schemas } from "../api.ts";
import type { Neighbors } from "./deployment/neighbors.tsx";

/** A part of a page, with a path of its own. */
export interface Tab<Props> {
  /** Below the path of the page. Empty: the tab that it opens with. */
  path: string;
  label: string;
  Content: ComponentType<Props>;
}

export interface ProjectTabProps {
  project: Schemas["Project"];
  can: Can;
  /** Reads the project again. */
  reload: () => Promise<void>;
}

export interface EnvironmentTabProps {
  environment: Schemas["Environment"];
  can: Can;
  /** Reads the environment again. */
  reload: () => Promise<void>;
}

export interface DeploymentTabProps {
  deployment: Schemas["Deployment"];
  /** The environment's stacks. Undefined until they are read. */
  stacks: readonly Schemas["Stack"][] | undefined;
  neighbors: Neighbors;
  /** Reads the deployment again. */
  reload: () => Promise<void>;
}

export interface OrganizationTabProps {
  /** Of the organization's operations. */
  path: { org_id: string };
}

/** The links to the tabs of the page at `root`. */
export function linkTabs(root: string, tabs: readonly { path: string; label: string }[]) {
  return tabs.map(({ path, label }) => [label, path ? `${root}/${path}` : root] as const);
}
