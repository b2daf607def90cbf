import { useEffect, useState } from "preact/hooks";
import { findRollback, type Rollback } from "../../../../cli/src/deployments/find-rollback.ts";
import type { Can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { type DialogButton, PageButtons } from "../../components/dialog-buttons.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useQuery } from "../../query.ts";
import { REDEPLOYMENT, RollBack } from "./copies.tsx";
import { shortNameOf } from "./source.tsx";

const PAGE_ITEMS = 10;

interface SearchOptions {
  /** Undefined: nothing is searched, and what was found stays. */
  environmentId: string | undefined;
  /** A new one starts a new search. */
  version: string;
  can: Can;
}

/** What the session may roll an environment back to. Undefined: nothing, or it is not known yet. */
export function useRollback({ environmentId, version, can }: SearchOptions): Rollback | undefined {
  const [found, setFound] = useState<Rollback>();
  const mayPreview = can("redeployDeployment") && can("getEnvironment");
  const searchedId = mayPreview ? environmentId : undefined;
  useEffect(() => {
    if (searchedId === undefined) return;
    let isCurrent = true;
    findIn(searchedId).then(
      (rollback) => isCurrent && setFound(rollback),
      // The page does without it.
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [searchedId, version]);
  const path = { deployment_id: found?.previous.id ?? "" };
  const { data } = useQuery(found && REDEPLOYMENT, { path });
  return data && !isDenied(data) ? found : undefined;
}

function findIn(environmentId: string): Promise<Rollback | undefined> {
  const deployments = client.list("/v1/environments/{environment_id}/deployments", {
    path: { environment_id: environmentId },
    query: { limit: PAGE_ITEMS },
  });
  return findRollback(deployments);
}

/** Whether a rule of the environment, which roles say nothing about, forbids it. */
function isDenied({ error }: Schemas["DeploymentPreview"]): boolean {
  return error?.code === "forbidden" || error?.code === "unauthorized";
}

/** Such as "Roll back to 9f56614, 2 minutes ago". */
export function rollbackButton({ previous }: Rollback, environmentName?: string): DialogButton {
  const { created_at, finished_at } = previous;
  const name = shortNameOf(previous.data.source, previous.reason);
  return {
    verb: "Roll back",
    text: (
      <span>
        Roll back to {name === undefined ? "the deployment from" : <bdi>{name},</bdi>}{" "}
        <Time at={finished_at ?? created_at} />
        {environmentName !== undefined && (
          <span class="visually-hidden"> in {showHidden(environmentName)}</span>
        )}
      </span>
    ),
    dialog: ({ onClose }) => <RollBack deployment={previous} onClose={onClose} />,
  };
}

interface RollbackOfEnvironmentProps {
  environment: Schemas["EnvironmentOverview"];
  can: Can;
}

/** The button in the pipeline, which shows several environments. */
export function RollbackOfEnvironment({ environment, can }: RollbackOfEnvironmentProps) {
  const { id, name, recent_deployments: recent } = environment;
  const rollback = useRollback({
    environmentId: recent.length > 1 ? id : undefined,
    version: recent.map((each) => `${each.id} ${each.status}`).join(),
    can,
  });
  return (
    <PageButtons
      buttons={[rollback !== undefined && { ...rollbackButton(rollback, name), kind: "small" }]}
    />
  );
}
