import type { Feature } from "../feature.ts";
import { accountFeature } from "./account/feature.ts";
import { alarmsFeature } from "./alarms/feature.ts";
import { apiKeysFeature } from "./api-keys/feature.ts";
import { attemptsFeature } from "./attempts/feature.ts";
import { auditFeature } from "./audit/feature.ts";
import { bootstrapFeature } from "./bootstrap/feature.ts";
import { changelogFeature } from "./changelog/feature.ts";
import { componentsFeature } from "./components/feature.ts";
import { connectionsFeature } from "./connections/feature.ts";
import { deploymentsFeature } from "./deployments/feature.ts";
import { environmentsFeature } from "./environments/feature.ts";
import { familiesFeature } from "./families/feature.ts";
import { healthFeature } from "./health/feature.ts";
import { idempotencyFeature } from "./idempotency/feature.ts";
import { invitationsFeature } from "./invitations/feature.ts";
import { logsFeature } from "./logs/feature.ts";
import { membershipsFeature } from "./memberships/feature.ts";
import { deliveryFeature } from "./notifications/delivery/feature.ts";
import { eventsFeature } from "./notifications/events/feature.ts";
import { integrationsFeature } from "./notifications/integrations/feature.ts";
import { recoveriesFeature } from "./notifications/recoveries/feature.ts";
import { slackFeature } from "./notifications/slack/feature.ts";
import { openApiFeature } from "./open-api/feature.ts";
import { openIdConnectFeature } from "./open-id-connect/feature.ts";
import { organizationsFeature } from "./organizations/feature.ts";
import { outboxFeature } from "./outbox/feature.ts";
import { overviewFeature } from "./overview/feature.ts";
import { projectMembersFeature } from "./project-members/feature.ts";
import { projectsFeature } from "./projects/feature.ts";
import { purgeFeature } from "./purge/feature.ts";
import { resourcesFeature } from "./resources/feature.ts";
import { runnerApiFeature } from "./runner-api/feature.ts";
import { runnerPoolsFeature } from "./runner-pools/feature.ts";
import { runnerTokensFeature } from "./runner-tokens/feature.ts";
import { serviceAccountsFeature } from "./service-accounts/feature.ts";
import { sessionsFeature } from "./sessions/feature.ts";
import { stacksFeature } from "./stacks/feature.ts";
import { trustsFeature } from "./trusts/feature.ts";
import { usageFeature } from "./usage/feature.ts";
import { variablesFeature } from "./variables/feature.ts";

/** Every feature, in the order of its section in the OpenAPI document. */
export const FEATURES: readonly Feature[] = [
  organizationsFeature,
  usageFeature,
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
  changelogFeature,
  projectMembersFeature,
  environmentsFeature,
  componentsFeature,
  stacksFeature,
  alarmsFeature,
  variablesFeature,
  deploymentsFeature,
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
