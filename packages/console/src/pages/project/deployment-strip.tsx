import type { Schemas } from "../../api.ts";
import { toneOf } from "../../components/status.tsx";
import { formatDuration, formatExact, humanize } from "../../format.ts";
import { ROOT } from "../../router.ts";

type Recent = Schemas["RecentDeployment"];

/** Each status has a shape of its own, because not everybody can tell the colors. */
const SHAPES: Readonly<Record<Recent["status"], { path: string; isFilled?: true }>> = {
  queued: { path: "M6 2a4 4 0 1 0 .01 0z" },
  in_progress: { path: "M3 1.5l7 4.5-7 4.5z", isFilled: true },
  canceling: { path: "M3 1.5l7 4.5-7 4.5z" },
  succeeded: { path: "M6 2a4 4 0 1 0 .01 0z", isFilled: true },
  failed: { path: "M2 2l8 8M10 2l-8 8" },
  canceled: { path: "M2.5 2.5h7v7h-7z" },
  superseded: { path: "M2 6h8" },
};

interface DeploymentStripProps {
  /** Whose they are. */
  name: string;
  /** The newest first. */
  deployments: readonly Recent[];
}

/** The last deployments, the newest at the end, each a link. */
export function DeploymentStrip({ name, deployments }: DeploymentStripProps) {
  return (
    <ol class="strip" aria-label={`Last deployments to ${name}, the newest at the end`}>
      {deployments.toReversed().map((deployment) => {
        const { id, status } = deployment;
        const { path, isFilled } = SHAPES[status];
        const text = describe(deployment);
        return (
          <li key={id}>
            <a href={`${ROOT}deployments/${id}`} class={toneOf(status)} title={text}>
              <svg viewBox="0 0 12 12" role="img" aria-label={text}>
                <path d={path} class={isFilled ? "filled" : ""} />
              </svg>
            </a>
          </li>
        );
      })}
    </ol>
  );
}

function describe({ status, created_at, run_seconds }: Recent): string {
  const after = run_seconds === undefined ? "" : ` after ${formatDuration(run_seconds * 1000)}`;
  return `${humanize(status)}${after}, created ${formatExact(created_at)}`;
}
