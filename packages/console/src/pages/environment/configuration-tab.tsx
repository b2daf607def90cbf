import { useRef } from "preact/hooks";
import { client, type Schemas } from "../../api.ts";
import { type OpenDialogProps, PageButtons } from "../../components/dialog-buttons.tsx";
import { EditJson } from "../../components/edit-json.tsx";
import { differenceOf, type Patch } from "../../components/edited-version.ts";
import { ReadErrorNote } from "../../components/error-note.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Skeleton } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { PatchDiff } from "../../components/patch-diff.tsx";
import { Time } from "../../components/time.tsx";
import { readVersion, useQuery } from "../../query.ts";
import { navigate, ROOT } from "../../router.ts";
import type { EnvironmentTabProps } from "../tabs.ts";

const ENVIRONMENT = "/v1/environments/{environment_id}" as const;

export function ConfigurationTab({ environment, can, reload }: EnvironmentTabProps) {
  const { id, configuration } = environment;
  return (
    <div class="stack loose">
      {can("getDeploymentConfiguration") && (
        <Section title="Changes since the last success">
          <ChangesSinceSuccess environmentId={id} configuration={configuration} />
        </Section>
      )}
      <Section
        title="Configuration"
        actions={
          can("replaceEnvironment") && (
            <PageButtons
              reload={reload}
              buttons={[
                {
                  verb: "Edit",
                  inPalette: "Edit the configuration",
                  dialog: (props) => (
                    <EditConfiguration id={id} mayDeploy={can("createDeployment")} {...props} />
                  ),
                },
              ]}
            />
          )
        }
      >
        <JsonTree value={configuration} />
      </Section>
    </div>
  );
}

interface ChangesProps {
  environmentId: string;
  configuration: Schemas["Configuration"];
}

function ChangesSinceSuccess({ environmentId, configuration }: ChangesProps) {
  const list = useQuery("/v1/environments/{environment_id}/deployments", {
    path: { environment_id: environmentId },
    query: { status: "succeeded", limit: 1 },
  });
  const last = list.data?.data[0];
  const deployed = useQuery(last && "/v1/deployments/{deployment_id}/configuration", {
    path: { deployment_id: last?.id ?? "" },
  });
  const error = list.error ?? deployed.error;
  if (error !== undefined) return <ReadErrorNote error={error} />;
  if (list.data && !last) return <p class="soft">No deployment has succeeded yet.</p>;
  if (!last || !deployed.data) return <Skeleton lines={2} />;
  const { after } = deployed.data;
  if (!after) return <p class="soft">The configuration of that deployment is no longer kept.</p>;
  return (
    <>
      <p>
        Compared with{" "}
        <a href={`${ROOT}deployments/${last.id}`}>
          the deployment that succeeded <Time at={last.finished_at ?? last.created_at} />
        </a>
      </p>
      <PatchDiff patch={differenceOf(after, configuration)} />
    </>
  );
}

interface EditConfigurationProps extends OpenDialogProps {
  id: string;
  mayDeploy: boolean;
}

function EditConfiguration({ id, mayDeploy, onClose, reload }: EditConfigurationProps) {
  const path = { environment_id: id };
  // As it is in the version that was read last.
  const name = useRef("");
  return (
    <EditJson
      title="Edit the configuration"
      label="Configuration"
      hint="Saved, it is what the next deployment starts from. Deployed, it becomes the configuration once the deployment succeeds."
      done="Configuration saved."
      reload={reload}
      onClose={onClose}
      read={async () => {
        const { value, etag } = await readVersion(ENVIRONMENT, path);
        name.current = value.name;
        return { value: value.configuration, etag };
      }}
      save={(value, ifMatch) =>
        client.put(ENVIRONMENT, {
          path,
          body: { name: name.current, configuration: value as Schemas["Configuration"] },
          ifMatch,
        })
      }
      other={
        mayDeploy
          ? {
              verb: "Deploy",
              done: "Deployment created.",
              work: async (patch) => {
                const body = { patch: patch.map(toInput) };
                const pattern = "/v1/environments/{environment_id}/deployments";
                const deployment = await client.post(pattern, { path, body });
                navigate(`${ROOT}deployments/${deployment.id}`);
              },
            }
          : undefined
      }
    />
  );
}

/** The service adds the old value itself. */
function toInput({ old_value: _, ...operation }: Patch[number]): Schemas["PatchOperationInput"] {
  return operation;
}
