import { useEffect, useState } from "preact/hooks";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import {
  Check,
  Choices,
  Form,
  type FormFields,
  TextAreaField,
  TextField,
} from "../../components/form.tsx";
import { Pending } from "../../components/list.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { navigate, ROOT } from "../../router.ts";
import { WouldWait } from "../deployment/waiting.tsx";
import { CommitFields, readGit } from "./commit-fields.tsx";
import { useStacks } from "./use-stacks.ts";

interface CreateDeploymentProps {
  environment: Schemas["Environment"];
  onClose: () => void;
}

export function CreateDeployment({ environment, onClose }: CreateDeploymentProps) {
  const path = { environment_id: environment.id };
  const stacks = useStacks(environment.id);
  const preview = usePreview(environment.id);
  const { git, isKnown } = useEarlierGit(environment.id, preview);
  if (stacks.items?.length === 0) return <NothingToDeploy id={environment.id} onClose={onClose} />;
  return (
    <Dialog title={`Deploy to ${showHidden(environment.name)}`} onClose={onClose}>
      {!isKnown ? (
        <Pending error={undefined} lines={5} />
      ) : (
        <Form
          verb="Deploy"
          done="Deployment created."
          onClose={onClose}
          submit={async (fields) => {
            const body = readDeployment(fields, git);
            const pattern = "/v1/environments/{environment_id}/deployments";
            const { id } = await client.post(pattern, { path, body });
            navigate(`${ROOT}deployments/${id}`);
          }}
        >
          {(error) => (
            <>
              {preview && <WouldWait preview={preview} />}
              <TextField name="reason" label="Reason (optional)" error={error} />
              <CommitFields earlier={git} error={error} />
              <TextField
                name="image"
                label="Image (optional)"
                error={error}
                hint="Such as shop:42. Without a commit or an image, the environment keeps what it runs."
              />
              <TextAreaField
                name="patch"
                label="Changes to the configuration (optional)"
                hint="A JSON Patch, an array of operations"
                placeholder='[{"op": "replace", "path": "/web/replicas", "value": 4}]'
              />
              <Choices
                name="stack"
                legend="Stacks (none: all)"
                options={(stacks.items ?? []).map(({ id, name }) => [id, showHidden(name)])}
              />
              <Check
                name="fifo"
                label="Run after the deployments that are queued, instead of superseding them"
              />
              <Check name="continue_on_failure" label="Deploy other stacks if one fails" />
            </>
          )}
        </Form>
      )}
    </Dialog>
  );
}

/** Of a deployment without any changes. Undefined: being read. Null: it cannot be read. */
function usePreview(id: string) {
  const [preview, setPreview] = useState<Schemas["DeploymentPreview"] | null>();
  useEffect(() => {
    const pattern = "/v1/environments/{environment_id}/deployment-preview";
    const read = client.post(pattern, { path: { environment_id: id }, body: {} });
    read.then(setPreview, () => setPreview(null));
  }, [id]);
  return preview;
}

/** The commit that the environment runs, else the last that somebody has tried to deploy. */
function useEarlierGit(id: string, preview: Schemas["DeploymentPreview"] | null | undefined) {
  const running = preview?.source?.git;
  const isSearched = preview !== undefined && !running;
  const { items, error } = useList(
    isSearched ? "/v1/environments/{environment_id}/deployments" : undefined,
    { path: { environment_id: id } },
  );
  const git = running ?? items?.find(({ data }) => data.source?.git)?.data.source?.git;
  return { git, isKnown: Boolean(running ?? items ?? error) };
}

/** The service refuses a deployment without stacks. */
function NothingToDeploy({ id, onClose }: { id: string; onClose: () => void }) {
  return (
    <Dialog title="Deploy" onClose={onClose}>
      <p>
        The environment has no stacks, so there is nothing to deploy.{" "}
        <a href={`${ROOT}environments/${id}/stacks`}>Create a stack</a> first.
      </p>
      <div>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

/** @throws Error if the patch is not JSON, and as `readGit`. The service checks the rest. */
function readDeployment(
  fields: FormFields,
  earlier: Schemas["GitSource"] | undefined,
): Schemas["CreateDeployment"] {
  const patch = fields.optional("patch");
  const image = fields.optional("image");
  const git = readGit(fields, earlier);
  const reason = fields.optional("reason");
  const source = { ...(git && { git }), ...(image !== undefined && { registry: { image } }) };
  const stackIds = fields.all("stack");
  return {
    ...(patch !== undefined && { patch: parsePatch(patch) }),
    ...(reason !== undefined && { reason }),
    ...(Object.keys(source).length > 0 && { source }),
    ...(stackIds.length > 0 && { stack_ids: stackIds }),
    ...(fields.isChecked("fifo") && { queue: "fifo" }),
    ...(fields.isChecked("continue_on_failure") && { continue_on_failure: true }),
  };
}

function parsePatch(text: string): Schemas["PatchOperationInput"][] {
  try {
    return JSON.parse(text) as Schemas["PatchOperationInput"][];
  } catch (error) {
    throw new Error("The changes are not JSON. Correct them, or leave the field empty.", {
      cause: error,
    });
  }
}
