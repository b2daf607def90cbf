import type { ComponentType, VNode } from "preact";
import { matchPath, type Params } from "../router.ts";
import { DeploymentPage } from "./deployment/deployment-page.tsx";
import { EnvironmentPage } from "./environment/environment-page.tsx";
import { DeliveryPage } from "./integrations/delivery-page.tsx";
import { IntegrationPage } from "./integrations/integration-page.tsx";
import { NotFoundPage } from "./not-found.tsx";
import { MemberPage } from "./organizations/member-page.tsx";
import { OrganizationPage } from "./organizations/organization-page.tsx";
import { ProjectPage } from "./project/project-page.tsx";
import { ProjectsPage } from "./projects/projects-page.tsx";
import { ApprovePage } from "./protection/approve-page.tsx";
import { RunnerPoolPage } from "./runner-pools/pool-page.tsx";
import { RunnerPoolsPage } from "./runner-pools/pools-page.tsx";
import { StackPage } from "./stack/stack-page.tsx";
import { ComponentVariablesPage } from "./variables/component-page.tsx";

type PageComponent = ComponentType<{ params: Params }>;

/** Every page by its path below `/console/`. The first that fits is shown. */
export const ROUTES: readonly (readonly [pattern: string, page: PageComponent])[] = [
  ["", ProjectsPage],
  ["environments/:environment_id", EnvironmentPage],
  ["environments/:environment_id/:tab", EnvironmentPage],
  ["components/:component_id/variables", ComponentVariablesPage],
  ["stacks/:stack_id", StackPage],
  ["deployments/:deployment_id", DeploymentPage],
  ["deployments/:deployment_id/approve", ApprovePage],
  ["deployments/:deployment_id/:tab", DeploymentPage],
  ["organization", OrganizationPage],
  ["organization/:tab", OrganizationPage],
  ["organization/members/:member_id", MemberPage],
  ["runners", RunnerPoolsPage],
  ["runners/:pool_id", RunnerPoolPage],
  ["projects/:project_id/integrations/:integration_id", IntegrationPage],
  ["projects/:project_id/integrations/:integration_id/deliveries/:delivery_id", DeliveryPage],
  ["projects/:project_id", ProjectPage],
  ["projects/:project_id/:tab", ProjectPage],
];

/** A page of another path is another component, which starts anew. */
export function findPage(path: string): VNode {
  for (const [pattern, Component] of ROUTES) {
    const params = matchPath(pattern, path);
    if (params) return <Component key={path} params={params} />;
  }
  return <NotFoundPage key={path} />;
}
