import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { Section } from "../../components/page.tsx";
import { PatchDiff } from "../../components/patch-diff.tsx";
import { useQuery } from "../../query.ts";
import { openConditions } from "../protection/decisions.tsx";
import type { DeploymentTabProps } from "../tabs.ts";
import { ChangedVariables } from "./changed-variables.tsx";
import { SourceChange } from "./source.tsx";

export function ChangesTab({ deployment, neighbors }: DeploymentTabProps) {
  const { started_at, status } = deployment;
  const { previousSuccess: previous } = neighbors;
  const hasVariables = started_at !== undefined || status === "queued";
  return (
    <div class="stack loose">
      <Section title="Source">
        <SourceChange
          before={previous}
          after={deployment}
          titles={["Previous success", "This deployment"]}
        />
      </Section>
      <Section title="Configuration">
        <ConfigurationChange deployment={deployment} />
      </Section>
      {previous && hasVariables && can("previewRedeployment", "viewer") && (
        <ChangedVariables deployment={deployment} previous={previous} />
      )}
    </div>
  );
}

/** The patch, or what would start now if the deployment waits for rules. */
function ConfigurationChange({ deployment }: { deployment: Schemas["Deployment"] }) {
  const { id, data } = deployment;
  const isHeld = openConditions(deployment).length > 0 && can("getEnvironment", "viewer");
  const content = useQuery(
    isHeld ? "/v1/deployments/{deployment_id}/configuration" : undefined,
    { path: { deployment_id: id } },
    isHeld ? "on" : "off",
  );
  return <PatchDiff patch={content.data?.diff ?? data.patch} />;
}
