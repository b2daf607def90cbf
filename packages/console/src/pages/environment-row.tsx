import type { Schemas } from "../api.ts";
import { Status } from "../components/status.tsx";
import { Time } from "../components/time.tsx";
import { showHidden } from "../format.ts";
import { ROOT } from "../router.ts";
import { describeSource } from "./deployment/source.tsx";

/** An environment, with its deployment in progress or else its last one. */
export function EnvironmentRow({ environment }: { environment: Schemas["EnvironmentOverview"] }) {
  const { id, name, active_deployment, last_deployment } = environment;
  const deployment = active_deployment ?? last_deployment;
  return (
    <div class="list-item">
      <a href={`${ROOT}environments/${id}`}>{showHidden(name)}</a>
      {deployment ? (
        <span class="row">
          <span class="soft small">{describeSource(deployment.source)}</span>
          <a href={`${ROOT}deployments/${deployment.id}`}>
            <Status of={deployment.status} />
            <span class="visually-hidden">deployment of {showHidden(name)}</span>
          </a>
          <Time at={deployment.finished_at ?? deployment.created_at} />
        </span>
      ) : (
        <span class="soft">Not deployed yet</span>
      )}
    </div>
  );
}
