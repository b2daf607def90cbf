import type { Schemas } from "../../api.ts";
import { differenceOf } from "../../components/edit-json.tsx";
import { ReadErrorNote } from "../../components/error-note.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Skeleton } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { PatchDiff } from "../../components/patch-diff.tsx";
import { Time } from "../../components/time.tsx";
import { useQuery } from "../../query.ts";
import { ROOT } from "../../router.ts";
import type { EnvironmentTabProps } from "../tabs.ts";

export function ConfigurationTab({ environment, can }: EnvironmentTabProps) {
  const { id, configuration } = environment;
  return (
    <div class="stack loose">
      {can("getDeploymentConfiguration") && (
        <Section title="Changes since the last success">
          <ChangesSinceSuccess environmentId={id} configuration={configuration} />
        </Section>
      )}
      <Section title="Configuration">
        <JsonTree value={configuration} />
      </Section>
    </div>
  );
}

interface ChangesProps {
  environmentId: string;
  configuration: Schemas["Configuration"];
}

function ChangesSinceSuccess({ environmentId, configuration }: ChangesProps) {
  const list = useQuery("/v1/environments/{environment_id}/deployments", {
    path: { environment_id: environmentId },
    query: { status: "succeeded", limit: 1 },
  });
  const last = list.data?.data[0];
  const deployed = useQuery(last && "/v1/deployments/{deployment_id}/configuration", {
    path: { deployment_id: last?.id ?? "" },
  });
  const error = list.error ?? deployed.error;
  if (error !== undefined) return <ReadErrorNote error={error} />;
  if (list.data && !last) return <p class="soft">No deployment has succeeded yet.</p>;
  if (!last || !deployed.data) return <Skeleton lines={2} />;
  const { after } = deployed.data;
  if (!after) return <p class="soft">The configuration of that deployment is no longer kept.</p>;
  return (
    <>
      <p>
        Compared with{" "}
        <a href={`${ROOT}deployments/${last.id}`}>
          the deployment that succeeded <Time at={last.finished_at ?? last.created_at} />
        </a>
      </p>
      <PatchDiff patch={differenceOf(after, configuration)} />
    </>
  );
}
