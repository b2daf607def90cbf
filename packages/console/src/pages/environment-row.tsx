import type { Schemas } from "../api.ts";
import { Status } from "../components/status.tsx";
import { Time, Took } from "../components/time.tsx";
import { showHidden } from "../format.ts";
import { ROOT } from "../router.ts";
import { describeSource } from "./deployment/source.tsx";

/** An environment, with its deployment in progress or else its last one. */
export function EnvironmentRow({ environment }: { environment: Schemas["EnvironmentOverview"] }) {
  const { id, name, active_deployment, last_deployment } = environment;
  const deployment = active_deployment ?? last_deployment;
  return (
    <div class="columns">
      <span>
        <a href={`${ROOT}environments/${id}`}>{showHidden(name)}</a>{" "}
        <span class="soft small">
          {deployment ? describeSource(deployment.source) : "Not deployed yet"}
        </span>
      </span>
      {deployment && (
        <>
          <a href={`${ROOT}deployments/${deployment.id}`}>
            <Status of={deployment.status} />
            <span class="visually-hidden">
              {" "}
              deployment of <bdi>{showHidden(name)}</bdi>
            </span>
          </a>
          <Took seconds={deployment.run_seconds} />
          <Time at={deployment.finished_at ?? deployment.created_at} />
        </>
      )}
    </div>
  );
}
