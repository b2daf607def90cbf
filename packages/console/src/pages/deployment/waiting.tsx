import type { Schemas } from "../../api.ts";
import { TimeAfter } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { ROOT } from "../../router.ts";

export function Waiting({ reasons }: { reasons: readonly Schemas["WaitingReason"][] }) {
  return (
    <ul class="list" aria-label="Waiting for">
      {reasons.map(({ code, message, deployment_id, opens_at, expires_at, pools = [] }) => (
        <li key={message}>
          <p>{showHidden(message)}</p>
          <p class="row soft small">
            {(opens_at ?? expires_at) && (
              <span>
                <TimeAfter words="Opens" at={opens_at} />
                <TimeAfter words="Expires" at={expires_at} />
              </span>
            )}
            {deployment_id && <a href={`${ROOT}deployments/${deployment_id}`}>The deployment</a>}
            {code === "pool" && <a href={`${ROOT}runners`}>Runners</a>}
            {pools.map(({ id, name, last_asked_at }) => (
              <span key={id}>
                <a href={`${ROOT}runners/${id}`}>{showHidden(name)}</a>
                <TimeAfter words=", last asked" at={last_asked_at} />
              </span>
            ))}
          </p>
        </li>
      ))}
    </ul>
  );
}

interface WouldWaitProps {
  preview: Schemas["DeploymentPreview"];
}

/** What keeps a deployment from starting, before it is created. */
export function WouldWait({ preview }: WouldWaitProps) {
  const { waiting_for: reasons } = preview;
  if (reasons.length === 0) return null;
  return (
    <section class="note attention" aria-label="Before it starts">
      <p>It will not start at once:</p>
      <Waiting reasons={reasons} />
    </section>
  );
}
