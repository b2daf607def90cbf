import type { Feature } from "../feature.ts";
import { alarmsFeature } from "./deployments/alarms/feature.ts";
import { approvalsFeature } from "./deployments/approvals/feature.ts";
import { attemptsFeature } from "./deployments/attempts/feature.ts";
import { comparisonFeature } from "./deployments/comparison/feature.ts";
import { connectionsFeature } from "./deployments/connections/feature.ts";
import { deploymentsFeature } from "./deployments/deployments/feature.ts";
import { freezesFeature } from "./deployments/freezes/feature.ts";
import { insightsFeature } from "./deployments/insights/feature.ts";
import { logsFeature } from "./deployments/logs/feature.ts";
import { overviewFeature } from "./deployments/overview/feature.ts";
import { protectionFeature } from "./deployments/protection/feature.ts";
import { resourcesFeature } from "./deployments/resources/feature.ts";
import { runnerApiFeature } from "./deployments/runner-api/feature.ts";
import { runnerPoolsFeature } from "./deployments/runner-pools/feature.ts";
import { auditFeature } from "./housekeeping/audit/feature.ts";
import { changelogFeature } from "./housekeeping/changelog/feature.ts";
import { healthFeature } from "./housekeeping/health/feature.ts";
import { idempotencyFeature } from "./housekeeping/idempotency/feature.ts";
import { openApiFeature } from "./housekeeping/open-api/feature.ts";
import { outboxFeature } from "./housekeeping/outbox/feature.ts";
import { purgeFeature } from "./housekeeping/purge/feature.ts";
import { quotasFeature } from "./housekeeping/quotas/feature.ts";
import { usageFeature } from "./housekeeping/usage/feature.ts";
import { accountFeature } from "./identity/account/feature.ts";
import { apiKeysFeature } from "./identity/api-keys/feature.ts";
import { bootstrapFeature } from "./identity/bootstrap/feature.ts";
import { familiesFeature } from "./identity/families/feature.ts";
import { invitationsFeature } from "./identity/invitations/feature.ts";
import { membershipsFeature } from "./identity/memberships/feature.ts";
import { openIdConnectFeature } from "./identity/open-id-connect/feature.ts";
import { organizationsFeature } from "./identity/organizations/feature.ts";
import { runnerTokensFeature } from "./identity/runner-tokens/feature.ts";
import { serviceAccountsFeature } from "./identity/service-accounts/feature.ts";
import { sessionsFeature } from "./identity/sessions/feature.ts";
import { trustsFeature } from "./identity/trusts/feature.ts";
import { deliveryFeature } from "./notifications/delivery/feature.ts";
import { eventsFeature } from "./notifications/events/feature.ts";
import { integrationsFeature } from "./notifications/integrations/feature.ts";
import { recoveriesFeature } from "./notifications/recoveries/feature.ts";
import { slackFeature } from "./notifications/slack/feature.ts";
import { accessFeature } from "./projects/access/feature.ts";
import { componentsFeature } from "./projects/components/feature.ts";
import { environmentsFeature } from "./projects/environments/feature.ts";
import { projectMembersFeature } from "./projects/project-members/feature.ts";
import { projectsFeature } from "./projects/projects/feature.ts";
import { stacksFeature } from "./projects/stacks/feature.ts";
import { variablesFeature } from "./projects/variables/feature.ts";

/** Every feature, in the order of its section in the OpenAPI document. */
export const FEATURES: readonly Feature[] = [
  organizationsFeature,
  usageFeature,
  quotasFeature,
  membershipsFeature,
  invitationsFeature,
  accountFeature,
  serviceAccountsFeature,
  apiKeysFeature,
  // Before the operation whose path has the token of a link.
  openIdConnectFeature,
  sessionsFeature,
  familiesFeature,
  runnerPoolsFeature,
  runnerTokensFeature,
  attemptsFeature,
  trustsFeature,
  projectsFeature,
  connectionsFeature,
  overviewFeature,
  insightsFeature,
  comparisonFeature,
  changelogFeature,
  projectMembersFeature,
  environmentsFeature,
  accessFeature,
  protectionFeature,
  componentsFeature,
  stacksFeature,
  alarmsFeature,
  variablesFeature,
  deploymentsFeature,
  approvalsFeature,
  freezesFeature,
  resourcesFeature,
  runnerApiFeature,
  logsFeature,
  integrationsFeature,
  slackFeature,
  eventsFeature,
  outboxFeature,
  deliveryFeature,
  recoveriesFeature,
  auditFeature,
  idempotencyFeature,
  purgeFeature,
  bootstrapFeature,
  healthFeature,
  openApiFeature,
];

/** Everything that is sealed. A secret becomes the previous one, so those come last. */
export const SEALED_COLUMNS = FEATURES.flatMap(({ sealedColumns = [] }) => sealedColumns);
