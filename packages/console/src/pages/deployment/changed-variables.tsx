import { listNames } from "../../../../cli/src/deployments/changed-variables.ts";
import type { Schemas } from "../../api.ts";
import { Pending } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { showHidden } from "../../format.ts";
import { useQuery } from "../../query.ts";

const PREVIEW = "/v1/deployments/{deployment_id}/redeployment";

interface ChangedVariablesProps {
  deployment: Schemas["Deployment"];
  /** The newest success before it. */
  previous: Schemas["Deployment"];
}

/** The names of the variables that the deployment has, and the previous one had not, as they are now. */
export function ChangedVariables({ deployment, previous }: ChangedVariablesProps) {
  const before = useQuery(PREVIEW, { path: { deployment_id: previous.id } });
  const later = useQuery(PREVIEW, { path: { deployment_id: deployment.id } });
  const error = before.error ?? later.error;
  const isRead = before.data !== undefined && later.data !== undefined;
  const changedLater = new Set(later.data?.changed_variables);
  const changed = before.data?.changed_variables;
  // A session without the scope for variables gets no names.
  if (isRead && !changed) return null;
  return (
    <Section title="Variables">
      {isRead && changed ? (
        <>
          <Names
            when="Changed since the previous success"
            names={changed.filter((name) => !changedLater.has(name))}
            none="None changed between the previous success and this deployment."
          />
          <Names
            when="Changed after this deployment, and perhaps before"
            names={[...changedLater]}
          />
        </>
      ) : (
        <Pending error={error} lines={1} />
      )}
    </Section>
  );
}

interface NamesProps {
  when: string;
  names: readonly string[];
  /** Said if there are no names. */
  none?: string;
}

function Names({ when, names, none }: NamesProps) {
  if (names.length === 0) return none ? <p class="soft">{none}</p> : null;
  return (
    <p>
      {when}: <code>{showHidden(listNames(names))}</code>
    </p>
  );
}
