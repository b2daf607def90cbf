import type { TargetedKeyboardEvent } from "preact";
import { useState } from "preact/hooks";
import type { Schemas } from "../../api.ts";
import { StatusMark } from "../../components/status-mark.tsx";
import { formatDuration, formatExact, humanize } from "../../format.ts";
import { ROOT } from "../../router.ts";

type Recent = Schemas["RecentDeployment"];

interface DeploymentStripProps {
  /** Whose they are. */
  name: string;
  /** The newest first. */
  deployments: readonly Recent[];
}

/** The last deployments, the newest at the end, each a link. Tab stops at one of them, and keys lead to the others. */
export function DeploymentStrip({ name, deployments }: DeploymentStripProps) {
  const [reached, setReached] = useState<string>();
  const stop = deployments.find(({ id }) => id === reached) ?? deployments[0];
  return (
    <div
      class="strip"
      role="toolbar"
      aria-label={`Last deployments to ${name}, the newest at the end`}
      onKeyDown={moveFocus}
    >
      {deployments.toReversed().map((deployment) => {
        const { id, status } = deployment;
        const text = describe(deployment);
        return (
          <a
            key={id}
            href={`${ROOT}deployments/${id}`}
            title={text}
            tabIndex={deployment === stop ? 0 : -1}
            onFocus={() => setReached(id)}
          >
            <StatusMark of={status} label={text} />
          </a>
        );
      })}
    </div>
  );
}

/** To the link before or after the one with the focus, or to the first or last. */
function moveFocus(event: TargetedKeyboardEvent<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll("a")];
  const at = links.findIndex((link) => link.matches(":focus"));
  const places: Readonly<Record<string, number>> = {
    ArrowLeft: at - 1,
    ArrowRight: at + 1,
    Home: 0,
    End: links.length - 1,
  };
  const next = links[places[event.key] ?? -1];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function describe({ status, created_at, run_seconds }: Recent): string {
  const after = run_seconds === undefined ? "" : ` after ${formatDuration(run_seconds * 1000)}`;
  return `${humanize(status)}${after}, created ${formatExact(created_at)}`;
}
