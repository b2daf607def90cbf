import type { Schemas } from "../api.ts";
import { toneOf } from "./status.tsx";

type DeploymentStatus = Schemas["DeploymentStatus"];

/** Each status has a shape of its own, because not everybody can tell the colors. */
const SHAPES: Readonly<Record<DeploymentStatus, { path: string; isFilled?: true }>> = {
  queued: { path: "M6 2a4 4 0 1 0 .01 0z" },
  in_progress: { path: "M3 1.5l7 4.5-7 4.5z", isFilled: true },
  canceling: { path: "M3 1.5l7 4.5-7 4.5z" },
  succeeded: { path: "M6 2a4 4 0 1 0 .01 0z", isFilled: true },
  failed: { path: "M2 2l8 8M10 2l-8 8" },
  canceled: { path: "M2.5 2.5h7v7h-7z" },
  superseded: { path: "M2 6h8" },
};

/** A deployment's status as a shape with a color. */
export function StatusMark({ of: status, label }: { of: DeploymentStatus; label: string }) {
  const { path, isFilled } = SHAPES[status];
  return (
    <svg class={`mark ${toneOf(status)}`} viewBox="0 0 12 12" role="img" aria-label={label}>
      <path d={path} class={isFilled ? "filled" : ""} />
    </svg>
  );
}
