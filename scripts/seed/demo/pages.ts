import type { Client } from "../../../packages/client/src/index.ts";
import type { Demo } from "./story.ts";

/** A page of the console and the name of its picture. */
export interface DemoPage {
  name: string;
  /** Below the root of the console. */
  path: string;
}

/** Every page of the console, with what the story has left there. */
export async function listPages(demo: Demo, client: Client): Promise<DemoPage[]> {
  const { project, environments, deployments } = demo;
  const { data: deliveries } = await client.get(
    "/v1/projects/{project_id}/notification-integrations/{integration_id}/deliveries",
    { path: { project_id: project.id, integration_id: demo.integrationId } },
  );
  const deliveryId = deliveries[0]?.id;
  const at = (name: string, path: string) => ({ name, path });
  const tabs = (name: string, root: string, paths: readonly string[]) =>
    paths.map((path) => at(`${name}-${path}`, `${root}/${path}`));
  const integration = `projects/${project.id}/integrations/${demo.integrationId}`;
  return [
    at("projects", ""),
    at("project", `projects/${project.id}`),
    ...tabs("project", `projects/${project.id}`, [
      "activity",
      "insights",
      "connection",
      "variables",
      "members",
      "integrations",
      "freezes",
      "settings",
    ]),
    at("environment", `environments/${environments.staging}`),
    ...tabs("environment", `environments/${environments.staging}`, [
      "configuration",
      "comparison",
      "components",
      "stacks",
      "variables",
      "settings",
    ]),
    at("environment-protection", `environments/${environments.eu}/protection`),
    at("deployment-waiting", `deployments/${deployments.waiting}`),
    at("deployment-approval", `deployments/${deployments.waiting}/approve`),
    at("component-variables", `components/${demo.componentId}/variables`),
    at("stack", `stacks/${demo.stackId}`),
    at("deployment", `deployments/${deployments.succeeded}`),
    at("deployment-failed", `deployments/${deployments.failed}`),
    at("integration", integration),
    at("delivery", `${integration}/deliveries/${deliveryId}`),
    at("runners", "runners"),
    at("runner-pool", `runners/${demo.poolId}`),
    at("organization", "organization"),
    ...tabs("organization", "organization", [
      "activity",
      "members",
      "keys",
      "service-accounts",
      "trusts",
      "freezes",
      "sessions",
      "usage",
    ]),
    at("organization-member", `organization/members/${demo.ownerId}`),
  ];
}
