import { useCan } from "../../access.ts";
import { Page, PendingPage } from "../../components/page.tsx";
import { ProjectIcon } from "../../components/project-icon.tsx";
import { useQuery } from "../../query.ts";
import { type Params, ROOT } from "../../router.ts";
import { ProjectActivityTab } from "../activity/activity.tsx";
import { IntegrationsTab } from "../integrations/integrations-tab.tsx";
import { NotFoundPage } from "../not-found.tsx";
import { ProjectFreezesTab } from "../protection/freezes-tab.tsx";
import { linkTabs, type ProjectTabProps, type Tab } from "../tabs.ts";
import { ConnectionTab } from "./connection-tab.tsx";
import { EnvironmentsTab } from "./environments-tab.tsx";
import { InsightsTab } from "./insights-tab.tsx";
import { MembersTab } from "./members-tab.tsx";
import { SettingsTab } from "./settings-tab.tsx";
import { ProjectVariablesTab } from "./variables-tab.tsx";

const TABS: readonly Tab<ProjectTabProps>[] = [
  { path: "", label: "Environments", Content: EnvironmentsTab },
  { path: "activity", label: "Activity", Content: ProjectActivityTab },
  { path: "insights", label: "Insights", Content: InsightsTab },
  { path: "connection", label: "Connection", Content: ConnectionTab },
  { path: "variables", label: "Variables", Content: ProjectVariablesTab },
  { path: "members", label: "Members", Content: MembersTab },
  { path: "integrations", label: "Integrations", Content: IntegrationsTab },
  { path: "freezes", label: "Freezes", Content: ProjectFreezesTab },
  { path: "settings", label: "Settings", Content: SettingsTab },
];

export function ProjectPage({ params }: { params: Params }) {
  const { project_id: id = "", tab = "" } = params;
  const project = useQuery("/v1/projects/{project_id}", { path: { project_id: id } }, "on");
  const can = useCan(id);
  const { Content } = TABS.find(({ path }) => path === tab) ?? {};
  if (!Content) return <NotFoundPage />;
  if (!project.data) return <PendingPage title="Project" error={project.error} />;
  return (
    <Page
      title={project.data.name}
      icon={<ProjectIcon icon={project.data.icon} name={project.data.name} />}
      crumbs={[["Projects", ROOT]]}
      tabs={linkTabs(`${ROOT}projects/${id}`, TABS)}
    >
      <Content project={project.data} can={can} reload={project.reload} />
    </Page>
  );
}
