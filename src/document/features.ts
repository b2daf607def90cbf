import { document as alarms } from "../features/deployments/alarms/document.ts";
import { document as approvals } from "../features/deployments/approvals/document.ts";
import { document as attempts } from "../features/deployments/attempts/document.ts";
import { document as comparison } from "../features/deployments/comparison/document.ts";
import { document as connections } from "../features/deployments/connections/document.ts";
import { document as deployments } from "../features/deployments/deployments/document.ts";
import { document as freezes } from "../features/deployments/freezes/document.ts";
import { document as insights } from "../features/deployments/insights/document.ts";
import { document as logs } from "../features/deployments/logs/document.ts";
import { document as overview } from "../features/deployments/overview/document.ts";
import { document as protection } from "../features/deployments/protection/document.ts";
import { document as resources } from "../features/deployments/resources/document.ts";
import { document as runnerApi } from "../features/deployments/runner-api/document.ts";
import { document as runnerPools } from "../features/deployments/runner-pools/document.ts";
import { document as audit } from "../features/housekeeping/audit/document.ts";
import { document as changelog } from "../features/housekeeping/changelog/document.ts";
import { document as health } from "../features/housekeeping/health/document.ts";
import { document as openApi } from "../features/housekeeping/open-api/document.ts";
import { document as usage } from "../features/housekeeping/usage/document.ts";
import { document as account } from "../features/identity/account/document.ts";
import { document as apiKeys } from "../features/identity/api-keys/document.ts";
import { document as bootstrap } from "../features/identity/bootstrap/document.ts";
import { document as families } from "../features/identity/families/document.ts";
import { document as invitations } from "../features/identity/invitations/document.ts";
import { document as memberships } from "../features/identity/memberships/document.ts";
import { document as openIdConnect } from "../features/identity/open-id-connect/document.ts";
import { document as organizations } from "../features/identity/organizations/document.ts";
import { document as runnerTokens } from "../features/identity/runner-tokens/document.ts";
import { document as serviceAccounts } from "../features/identity/service-accounts/document.ts";
import { document as sessions } from "../features/identity/sessions/document.ts";
import { document as trusts } from "../features/identity/trusts/document.ts";
import { document as delivery } from "../features/notifications/delivery/document.ts";
import { document as events } from "../features/notifications/events/document.ts";
import { document as integrations } from "../features/notifications/integrations/document.ts";
import { document as recoveries } from "../features/notifications/recoveries/document.ts";
import { document as slack } from "../features/notifications/slack/document.ts";
import { document as components } from "../features/projects/components/document.ts";
import { document as environments } from "../features/projects/environments/document.ts";
import { document as projectMembers } from "../features/projects/project-members/document.ts";
import { document as projects } from "../features/projects/projects/document.ts";
import { document as stacks } from "../features/projects/stacks/document.ts";
import { document as variables } from "../features/projects/variables/document.ts";
import type { FeatureDocument } from "./feature-document.ts";

/** In the order of the sections of the OpenAPI document. */
export const FEATURE_DOCUMENTS: readonly FeatureDocument[] = [
  organizations,
  usage,
  memberships,
  invitations,
  account,
  serviceAccounts,
  apiKeys,
  openIdConnect,
  sessions,
  families,
  runnerPools,
  runnerTokens,
  attempts,
  trusts,
  projects,
  connections,
  overview,
  insights,
  comparison,
  changelog,
  projectMembers,
  environments,
  protection,
  components,
  stacks,
  alarms,
  variables,
  deployments,
  approvals,
  freezes,
  resources,
  runnerApi,
  logs,
  integrations,
  slack,
  events,
  delivery,
  recoveries,
  audit,
  bootstrap,
  health,
  openApi,
];
