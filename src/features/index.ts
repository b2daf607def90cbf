import type { Feature } from "../feature.ts";
import type { LazyRoutes } from "../http/lazily.ts";
import { alarmsFeature } from "./deployments/alarms/feature.ts";
import { approvalsFeature } from "./deployments/approvals/feature.ts";
import { connectionsFeature } from "./deployments/connections/feature.ts";
import { deploymentsFeature } from "./deployments/deployments/feature.ts";
import { freezesFeature } from "./deployments/freezes/feature.ts";
import { insightsFeature } from "./deployments/insights/feature.ts";
import { logsFeature } from "./deployments/logs/feature.ts";
import { resourcesFeature } from "./deployments/resources/feature.ts";
import { runnerPoolsFeature } from "./deployments/runner-pools/feature.ts";
import { auditFeature } from "./housekeeping/audit/feature.ts";
import { changelogFeature } from "./housekeeping/changelog/feature.ts";
import { idempotencyFeature } from "./housekeeping/idempotency/feature.ts";
import { outboxFeature } from "./housekeeping/outbox/feature.ts";
import { purgeFeature } from "./housekeeping/purge/feature.ts";
import { quotasFeature } from "./housekeeping/quotas/feature.ts";
import { usageFeature } from "./housekeeping/usage/feature.ts";
import { apiKeysFeature } from "./identity/api-keys/feature.ts";
import { bootstrapFeature } from "./identity/bootstrap/feature.ts";
import { familiesFeature } from "./identity/families/feature.ts";
import { invitationsFeature } from "./identity/invitations/feature.ts";
import { membershipsFeature } from "./identity/memberships/feature.ts";
import { openIdConnectFeature } from "./identity/open-id-connect/feature.ts";
import { organizationsFeature } from "./identity/organizations/feature.ts";
import { runnerTokensFeature } from "./identity/runner-tokens/feature.ts";
import { sessionsFeature } from "./identity/sessions/feature.ts";
import { trustsFeature } from "./identity/trusts/feature.ts";
import { deliveryFeature } from "./notifications/delivery/feature.ts";
import { integrationsFeature } from "./notifications/integrations/feature.ts";
import { recoveriesFeature } from "./notifications/recoveries/feature.ts";
import { accessFeature } from "./projects/access/feature.ts";
import { componentsFeature } from "./projects/components/feature.ts";
import { environmentsFeature } from "./projects/environments/feature.ts";
import { projectMembersFeature } from "./projects/project-members/feature.ts";
import { projectsFeature } from "./projects/projects/feature.ts";
import { stacksFeature } from "./projects/stacks/feature.ts";
import { variablesFeature } from "./projects/variables/feature.ts";

/** A feature without tables or a sweep. */
function routesOnly(paths: LazyRoutes["paths"], load: LazyRoutes["load"]): Feature {
  return { routes: [{ paths, load }] };
}

/** Every feature, in the order of its section in the OpenAPI document. */
export const FEATURES: readonly Feature[] = [
  organizationsFeature,
  usageFeature,
  quotasFeature,
  membershipsFeature,
  invitationsFeature,
  routesOnly(
    ["/v1/whoami", "/v1/account"],
    async () => (await import("./identity/account/routes.ts")).accountRoutes,
  ),
  routesOnly(
    ["/v1/orgs/:org_id/service-accounts", "/v1/orgs/:org_id/service-accounts/:membership_id"],
    async () => (await import("./identity/service-accounts/routes.ts")).serviceAccountRoutes,
  ),
  apiKeysFeature,
  // Before the operation whose path has the token of a link.
  openIdConnectFeature,
  sessionsFeature,
  familiesFeature,
  runnerPoolsFeature,
  runnerTokensFeature,
  routesOnly(
    [
      "/v1/orgs/:org_id/runner-pools/:pool_id/attempts",
      "/v1/orgs/:org_id/runner-pools/:pool_id/runners",
    ],
    async () => (await import("./deployments/attempts/routes.ts")).attemptRoutes,
  ),
  trustsFeature,
  projectsFeature,
  connectionsFeature,
  routesOnly(
    ["/v1/projects/:project_id/overview"],
    async () => (await import("./deployments/overview/routes.ts")).overviewRoutes,
  ),
  insightsFeature,
  routesOnly(
    ["/v1/environments/:environment_id/comparison"],
    async () => (await import("./deployments/comparison/routes.ts")).comparisonRoutes,
  ),
  changelogFeature,
  projectMembersFeature,
  environmentsFeature,
  accessFeature,
  routesOnly(
    ["/v1/environments/:environment_id/protection"],
    async () => (await import("./deployments/protection/routes.ts")).protectionRoutes,
  ),
  componentsFeature,
  stacksFeature,
  alarmsFeature,
  variablesFeature,
  deploymentsFeature,
  approvalsFeature,
  freezesFeature,
  resourcesFeature,
  routesOnly(
    [
      "/v1/runner/claims",
      "/v1/runner/attempts",
      "/v1/runner/attempts/:attempt_id/start",
      "/v1/runner/attempts/:attempt_id/heartbeat",
      "/v1/runner/attempts/:attempt_id/variables",
      "/v1/runner/attempts/:attempt_id/stacks/:stack_id",
      "/v1/runner/attempts/:attempt_id/complete",
      "/v1/runner/attempts/:attempt_id/release",
    ],
    async () => (await import("./deployments/runner-api/routes.ts")).runnerRoutes,
  ),
  logsFeature,
  integrationsFeature,
  routesOnly(
    ["/v1/projects/:project_id/slack/install", "/v1/slack/callback"],
    async () => (await import("./notifications/slack/routes.ts")).slackRoutes,
  ),
  routesOnly(
    ["/v1/projects/:project_id/events"],
    async () => (await import("./notifications/events/routes.ts")).eventRoutes,
  ),
  outboxFeature,
  deliveryFeature,
  recoveriesFeature,
  auditFeature,
  idempotencyFeature,
  purgeFeature,
  bootstrapFeature,
  routesOnly(
    ["/health"],
    async () => (await import("./housekeeping/health/routes.ts")).healthRoutes,
  ),
  routesOnly(
    ["/metrics"],
    async () => (await import("./deployments/metrics/routes.ts")).metricRoutes,
  ),
  routesOnly(
    ["/openapi.json"],
    async () => (await import("./housekeeping/open-api/routes.ts")).openApiRoutes,
  ),
];

/** Everything that is sealed. A secret becomes the previous one, so those come last. */
export const SEALED_COLUMNS = FEATURES.flatMap(({ sealedColumns = [] }) => sealedColumns);
