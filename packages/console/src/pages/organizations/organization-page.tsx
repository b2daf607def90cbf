import { can } from "../../access.ts";
import { Page } from "../../components/page.tsx";
import type { OperationId } from "../../generated/access.ts";
import { type Params, ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { OrganizationActivityTab } from "../activity/activity.tsx";
import { NotFoundPage } from "../not-found.tsx";
import { OrganizationFreezesTab } from "../protection/freezes-tab.tsx";
import { linkTabs, type OrganizationTabProps, type Tab } from "../tabs.ts";
import { ApiKeysTab } from "./api-keys-tab.tsx";
import { MembersTab } from "./members-tab.tsx";
import { OverviewTab } from "./overview-tab.tsx";
import { ServiceAccountsTab } from "./service-accounts-tab.tsx";
import { SessionsTab } from "./sessions-tab.tsx";
import { TrustsTab } from "./trusts-tab.tsx";
import { UsageTab } from "./usage-tab.tsx";

interface OrganizationTab extends Tab<OrganizationTabProps> {
  /** The tab is there if this operation is allowed. */
  needs: OperationId;
}

const TABS: readonly OrganizationTab[] = [
  { path: "", label: "Overview", Content: OverviewTab, needs: "getOrganization" },
  {
    path: "activity",
    label: "Activity",
    Content: OrganizationActivityTab,
    needs: "listProjects",
  },
  { path: "members", label: "Members", Content: MembersTab, needs: "listMembers" },
  { path: "keys", label: "API keys", Content: ApiKeysTab, needs: "listApiKeys" },
  {
    path: "service-accounts",
    label: "Service accounts",
    Content: ServiceAccountsTab,
    needs: "listServiceAccounts",
  },
  { path: "trusts", label: "Trusts", Content: TrustsTab, needs: "listTrusts" },
  { path: "freezes", label: "Freezes", Content: OrganizationFreezesTab, needs: "listFreezes" },
  { path: "sessions", label: "Sessions", Content: SessionsTab, needs: "listSessions" },
  { path: "usage", label: "Usage", Content: UsageTab, needs: "getUsage" },
];

export function OrganizationPage({ params }: { params: Params }) {
  const { organization } = currentWho();
  const tab = TABS.find(({ path }) => path === (params["tab"] ?? ""));
  if (!tab) return <NotFoundPage />;
  const { Content, needs } = tab;
  const tabs = TABS.filter((each) => can(each.needs));
  return (
    <Page title={organization.name} tabs={linkTabs(`${ROOT}organization`, tabs)}>
      {can(needs) ? (
        <Content path={{ org_id: organization.id }} />
      ) : (
        <p>Your role or your scopes do not allow this page.</p>
      )}
    </Page>
  );
}
