import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { can } from "./access.ts";
import type { Schemas } from "./api.ts";
import { cachedResults } from "./query-cache.ts";
import { navigate, ROOT } from "./router.ts";

/** What the palette offers: a page, a resource, or an action of the page. */
export interface PaletteCommand {
  /** Unique: resources may have the same name. */
  id: string;
  label: string;
  kind: "Page" | "Project" | "Environment" | "Deployment" | "Runner pool" | "Action";
  run: () => void;
}

const pageCommands = signal<readonly PaletteCommand[]>([]);

/** Adds the page's actions to the palette while the page is shown. */
export function useCommands(
  commands: readonly (readonly [label: string, run: () => void])[],
): void {
  const latest = useRef(commands);
  latest.current = commands;
  const key = commands.map(([label]) => label).join("\n");
  useEffect(() => {
    // A page has several lists, of which most add nothing.
    if (key === "") return;
    pageCommands.value = commands.map(([label], at) => ({
      id: label,
      label,
      kind: "Action",
      run: () => latest.current[at]?.[1](),
    }));
    return () => {
      pageCommands.value = [];
    };
  }, [key]);
}

export const PAGES = [
  { label: "Projects", path: "", key: "p", needs: "listProjects" },
  { label: "Runners", path: "runners", key: "r", needs: "listRunnerPools" },
  { label: "Organization", path: "organization", key: "o", needs: undefined },
] as const;

export function visiblePages() {
  return PAGES.filter(({ needs }) => needs === undefined || can(needs));
}

export function allCommands(): PaletteCommand[] {
  const pages = visiblePages().map(({ label, path }) => linkTo("Page", label, path));
  return [...pageCommands.value, ...pages, ...loadedResources()];
}

function linkTo(kind: PaletteCommand["kind"], label: string, path: string): PaletteCommand {
  return { id: path, label, kind, run: () => navigate(ROOT + path) };
}

export function linkToProject({ id, name }: { id: string; name: string }): PaletteCommand {
  return linkTo("Project", name, `projects/${id}`);
}

/** Those that the session has read. */
function loadedResources(): PaletteCommand[] {
  const lists = cachedResults("/v1/projects") as Schemas["ProjectList"][];
  const overviews = cachedResults(
    "/v1/projects/{project_id}/overview",
  ) as Schemas["ProjectOverview"][];
  const deployments = cachedResults(
    "/v1/environments/{environment_id}/deployments",
  ) as Schemas["DeploymentList"][];
  const pools = cachedResults("/v1/orgs/{org_id}/runner-pools") as Schemas["RunnerPoolList"][];
  return [
    ...lists.flatMap(({ data }) => data.map(linkToProject)),
    ...overviews.flatMap(({ project, data }) => [
      linkToProject(project),
      ...data.map(({ id, name }) =>
        linkTo("Environment", `${project.name} / ${name}`, `environments/${id}`),
      ),
    ]),
    ...deployments.flatMap(({ data }) =>
      data.map(({ id, status }) => linkTo("Deployment", `${id} (${status})`, `deployments/${id}`)),
    ),
    ...pools.flatMap(({ data }) =>
      data.map(({ id, name }) => linkTo("Runner pool", name, `runners/${id}`)),
    ),
  ];
}
