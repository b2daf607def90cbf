import { useEffect } from "preact/hooks";
import { inOrder } from "../../../../cli/src/in-order.ts";
import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { ProjectIcon } from "../../components/project-icon.tsx";
import { StatusMark } from "../../components/status-mark.tsx";
import { Time } from "../../components/time.tsx";
import { formatCount, humanize, showHidden } from "../../format.ts";
import { useQuery } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { shortNameOf } from "../deployment/source.tsx";

export type Overview = Schemas["ProjectOverview"];
type Environment = Schemas["EnvironmentOverview"];

/** When something last happened in the project's environments. Empty: nothing is known. */
export function lastActivity(overview: Overview | undefined): string {
  const times = (overview?.data ?? []).flatMap(({ active_deployment, last_deployment }) => [
    active_deployment?.created_at ?? "",
    last_deployment?.finished_at ?? "",
  ]);
  return times.toSorted().at(-1) ?? "";
}

interface ProjectRowProps {
  project: Schemas["Project"];
  hasEnvironments: boolean;
  onRead: (overview: Overview) => void;
}

export function ProjectRow({ project, hasEnvironments, onRead }: ProjectRowProps) {
  const { id, name, icon, description } = project;
  const isReadable = hasEnvironments && can("getProjectOverview", "viewer");
  const { data } = useQuery(
    isReadable ? "/v1/projects/{project_id}/overview" : undefined,
    { path: { project_id: id }, query: { limit: 5 } },
    "on",
  );
  useEffect(() => {
    if (data) onRead(data);
  }, [data]);
  const alarms = (data?.data ?? []).reduce((sum, each) => sum + each.alarms.length, 0);
  const activity = lastActivity(data);
  return (
    <div class="project-row">
      <h2>
        <ProjectIcon icon={icon} name={name} />
        <a
          class="quiet"
          href={`${ROOT}projects/${id}`}
          title={description && showHidden(description)}
        >
          {showHidden(name)}
        </a>
      </h2>
      <ul class="environment-marks" aria-label={`Environments of ${showHidden(name)}`}>
        {inOrder(data?.data ?? []).map((environment) => (
          <li key={environment.id}>
            <EnvironmentMark environment={environment} />
          </li>
        ))}
      </ul>
      <span>
        {alarms > 0 && <span class="status bad nowrap">{formatCount(alarms, "alarm")}</span>}
      </span>
      {activity === "" ? <span /> : <Time at={activity} />}
    </div>
  );
}

/** What is in progress there, or else its last deployment. */
function EnvironmentMark({ environment }: { environment: Environment }) {
  const { id, name, active_deployment, last_deployment } = environment;
  const deployment = active_deployment ?? last_deployment;
  return (
    <>
      {deployment ? (
        <a href={`${ROOT}deployments/${deployment.id}`} class="target">
          <StatusMark
            of={deployment.status}
            label={`${humanize(deployment.status)} deployment to ${showHidden(name)}`}
          />
        </a>
      ) : (
        <span class="target" />
      )}
      <span>
        <a class="quiet" href={`${ROOT}environments/${id}`}>
          {showHidden(name)}
        </a>
        <span class="soft small block nowrap">
          {deployment ? (
            <>
              {shortNameOf(deployment.source, deployment.reason)}{" "}
              <Time at={deployment.finished_at ?? deployment.created_at} />
            </>
          ) : (
            "Not deployed yet"
          )}
        </span>
      </span>
    </>
  );
}
