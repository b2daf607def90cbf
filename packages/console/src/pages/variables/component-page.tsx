import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { useCan } from "../../access.ts";
import { Page, PendingPage } from "../../components/page.tsx";
import { useQuery } from "../../query.ts";
import { type Params, ROOT } from "../../router.ts";
import { useEnvironmentCrumbs } from "../crumbs.ts";
import { Variables } from "./variables.tsx";

/** The variables of one component, which override those of its environment. */
export function ComponentVariablesPage({ params }: { params: Params }) {
  const { component_id = "" } = params;
  const { data, error } = useQuery("/v1/components/{component_id}", { path: { component_id } });
  const can = useCan(data?.project_id);
  const { crumbs } = useEnvironmentCrumbs(data?.environment_id);
  if (!data) return <PendingPage title="Component" error={error} />;
  const environmentPath = `${ROOT}environments/${data.environment_id}`;
  return (
    <Page
      title={`Variables of ${data.name}`}
      crumbs={[...crumbs, ["Components", `${environmentPath}/components`]]}
    >
      <Variables
        scope={{ component: component_id }}
        can={can}
        projectId={data.project_id}
        command={`${RUN_CLI} vars set PORT=8080 -e ${data.environment_id} --component ${data.id}`}
      />
    </Page>
  );
}
