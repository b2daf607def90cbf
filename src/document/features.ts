import { document as account } from "../features/account/document.ts";
import { document as alarms } from "../features/alarms/document.ts";
import { document as apiKeys } from "../features/api-keys/document.ts";
import { document as attempts } from "../features/attempts/document.ts";
import { document as audit } from "../features/audit/document.ts";
import { document as bootstrap } from "../features/bootstrap/document.ts";
import { document as changelog } from "../features/changelog/document.ts";
import { document as components } from "../features/components/document.ts";
import { document as connections } from "../features/connections/document.ts";
import { document as deployments } from "../features/deployments/document.ts";
import { document as environments } from "../features/environments/document.ts";
import { document as families } from "../features/families/document.ts";
import { document as health } from "../features/health/document.ts";
import { document as invitations } from "../features/invitations/document.ts";
import { document as logs } from "../features/logs/document.ts";
import { document as memberships } from "../features/memberships/document.ts";
import { document as delivery } from "../features/notifications/delivery/document.ts";
import { document as events } from "../features/notifications/events/document.ts";
import { document as integrations } from "../features/notifications/integrations/document.ts";
import { document as recoveries } from "../features/notifications/recoveries/document.ts";
import { document as slack } from "../features/notifications/slack/document.ts";
import { document as openApi } from "../features/open-api/document.ts";
import { document as openIdConnect } from "../features/open-id-connect/document.ts";
import { document as organizations } from "../features/organizations/document.ts";
import { document as overview } from "../features/overview/document.ts";
import { document as projectMembers } from "../features/project-members/document.ts";
import { document as projects } from "../features/projects/document.ts";
import { document as resources } from "../features/resources/document.ts";
import { document as runnerApi } from "../features/runner-api/document.ts";
import { document as runnerPools } from "../features/runner-pools/document.ts";
import { document as runnerTokens } from "../features/runner-tokens/document.ts";
import { document as serviceAccounts } from "../features/service-accounts/document.ts";
import { document as sessions } from "../features/sessions/document.ts";
import { document as stacks } from "../features/stacks/document.ts";
import { document as trusts } from "../features/trusts/document.ts";
import { document as usage } from "../features/usage/document.ts";
import { document as variables } from "../features/variables/document.ts";
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
  changelog,
  projectMembers,
  environments,
  components,
  stacks,
  alarms,
  variables,
  deployments,
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
