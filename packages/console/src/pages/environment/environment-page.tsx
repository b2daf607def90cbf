import { useCan } from "../../access.ts";
import { Page, PendingPage } from "../../components/page.tsx";
import { useQuery } from "../../query.ts";
import { type Params, ROOT } from "../../router.ts";
import { useProjectCrumbs } from "../crumbs.ts";
import { NotFoundPage } from "../not-found.tsx";
import { RulesTab } from "../protection/rules-tab.tsx";
import { type EnvironmentTabProps, linkTabs, type Tab } from "../tabs.ts";
import { VariablesTab } from "../variables/variables-tab.tsx";
import { ComparisonTab } from "./comparison-tab.tsx";
import { ComponentsTab } from "./components-tab.tsx";
import { ConfigurationTab } from "./configuration-tab.tsx";
import { DeploymentsTab } from "./deployments-tab.tsx";
import { SettingsTab } from "./settings-tab.tsx";
import { StacksTab } from "./stacks-tab.tsx";

const TABS: readonly Tab<EnvironmentTabProps>[] = [
  { path: "", label: "Deployments", Content: DeploymentsTab },
  { path: "configuration", label: "Configuration", Content: ConfigurationTab },
  { path: "comparison", label: "Compare", Content: ComparisonTab },
  { path: "components", label: "Components", Content: ComponentsTab },
  { path: "stacks", label: "Stacks", Content: StacksTab },
  { path: "variables", label: "Variables", Content: VariablesTab },
  { path: "protection", label: "Protection", Content: RulesTab },
  { path: "settings", label: "Settings", Content: SettingsTab },
];

export function EnvironmentPage({ params }: { params: Params }) {
  const { environment_id: id = "", tab = "" } = params;
  const { data, error, reload } = useQuery(
    "/v1/environments/{environment_id}",
    { path: { environment_id: id } },
    "on",
  );
  const projectId = data?.project_id;
  const crumbs = useProjectCrumbs(projectId);
  const can = useCan(projectId);
  const { Content } = TABS.find(({ path }) => path === tab) ?? {};
  if (!Content) return <NotFoundPage />;
  if (!data) return <PendingPage title="Environment" error={error} />;
  return (
    <Page title={data.name} crumbs={crumbs} tabs={linkTabs(`${ROOT}environments/${id}`, TABS)}>
      <Content environment={data} can={can} reload={reload} />
    </Page>
  );
}
