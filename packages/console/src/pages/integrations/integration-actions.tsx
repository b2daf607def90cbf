import { useState } from "preact/hooks";
import type { Can } from "../../access.ts";
import { useAction } from "../../action.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Form, TextField } from "../../components/form.tsx";
import { SecretDialog } from "../../components/secret.tsx";
import { navigate, ROOT } from "../../router.ts";
import { FilterFields, readFilters, useFilterChoices } from "./filters.tsx";
import { FlagFields, readFlags } from "./flags.tsx";
import type { IntegrationPath } from "./integration-page.tsx";
import { stateOf } from "./state.ts";

const PATTERN = "/v1/projects/{project_id}/notification-integrations/{integration_id}";

interface ActionsProps {
  integration: Schemas["Integration"];
  path: IntegrationPath;
  can: Can;
  reload: () => Promise<void>;
}

type OpenDialog = { kind: "edit" | "rotate" | "delete" } | { kind: "secret"; secret: string };

export function IntegrationActions({ integration, path, can, reload }: ActionsProps) {
  const { type } = integration;
  const state = stateOf(integration);
  const [dialog, setDialog] = useState<OpenDialog>();
  const action = useAction();
  const close = () => setDialog(undefined);
  const change = (work: () => Promise<unknown>, done: string) =>
    action.run(async () => {
      await work();
      await reload();
    }, done);
  return (
    <>
      {state === "unconfirmed" && can("confirmIntegration") && (
        <Button
          kind="primary"
          isBusy={action.isRunning}
          onClick={() => change(() => client.post(`${PATTERN}/confirm`, { path }), "Confirmed.")}
        >
          Confirm
        </Button>
      )}
      {state === "disabled" && can("updateIntegration") && (
        <Button
          kind="primary"
          isBusy={action.isRunning}
          onClick={() => change(() => client.patch(PATTERN, { path, body: {} }), "Enabled.")}
        >
          Enable
        </Button>
      )}
      {state === "paused" && can("resumeIntegration") && (
        <Button
          isBusy={action.isRunning}
          onClick={() => change(() => client.post(`${PATTERN}/resume`, { path }), "Resumed.")}
        >
          Resume
        </Button>
      )}
      {state !== "disabled" && state !== "unconfirmed" && can("pingIntegration") && (
        <Button
          isBusy={action.isRunning}
          onClick={() => change(() => client.post(`${PATTERN}/ping`, { path }), "Ping sent.")}
        >
          Ping
        </Button>
      )}
      {can("updateIntegration") && (
        <Button onClick={() => setDialog({ kind: "edit" })}>Edit</Button>
      )}
      {type === "webhook" && can("rotateIntegrationSecret") && (
        <Button onClick={() => setDialog({ kind: "rotate" })}>Rotate the secret</Button>
      )}
      {can("deleteIntegration") && (
        <Button kind="danger" onClick={() => setDialog({ kind: "delete" })}>
          Delete
        </Button>
      )}
      <ErrorNote error={action.error} />
      {dialog?.kind === "edit" && (
        <EditIntegration integration={integration} path={path} onClose={close} reload={reload} />
      )}
      {dialog?.kind === "rotate" && (
        <RotateSecret
          path={path}
          onClose={close}
          onRotated={(secret) => setDialog({ kind: "secret", secret })}
        />
      )}
      {dialog?.kind === "secret" && (
        <SecretDialog
          title="The new secret"
          what="Webhook secret"
          secret={dialog.secret}
          onClose={close}
        />
      )}
      {dialog?.kind === "delete" && (
        <Confirm
          title="Delete the integration"
          verb="Delete"
          typed="delete"
          done="Integration deleted."
          onClose={close}
          work={async () => {
            await client.delete(PATTERN, { path });
            navigate(`${ROOT}projects/${path.project_id}/integrations`);
          }}
        >
          <p>Its deliveries are deleted with it, also those that are still to be sent.</p>
        </Confirm>
      )}
    </>
  );
}

interface RotateSecretProps {
  path: IntegrationPath;
  onClose: () => void;
  onRotated: (secret: string) => void;
}

function RotateSecret({ path, onClose, onRotated }: RotateSecretProps) {
  const action = useAction();
  const rotate = () =>
    action.run(async () => {
      const { secret } = await client.post(`${PATTERN}/rotate-secret`, { path });
      onRotated(secret);
    }, "Secret rotated.");
  return (
    <Dialog title="Rotate the secret" onClose={onClose}>
      <p>Deliveries have signatures with both secrets for 24 hours.</p>
      <ErrorNote error={action.error} />
      <div class="row">
        <Button kind="primary" isBusy={action.isRunning} onClick={rotate}>
          Rotate
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

interface EditIntegrationProps {
  integration: Schemas["Integration"];
  path: IntegrationPath;
  onClose: () => void;
  reload: () => Promise<void>;
}

function EditIntegration({ integration, path, onClose, reload }: EditIntegrationProps) {
  const { type, configuration } = integration;
  const { choices, error: loadError } = useFilterChoices(path.project_id);
  return (
    <Dialog title="Edit the integration" onClose={onClose}>
      <ErrorNote error={loadError} />
      {choices && (
        <Form
          verb="Save"
          done="Saved."
          onCancel={onClose}
          onDone={onClose}
          submit={async (fields) => {
            const url = fields.optional("url");
            await client.patch(PATTERN, {
              path,
              body: {
                configuration: readFlags(fields),
                ...readFilters(fields),
                ...(url !== undefined && { url }),
              },
            });
            await reload();
          }}
        >
          {(error) => (
            <>
              {type === "webhook" && (
                <TextField
                  name="url"
                  type="url"
                  label="New URL (empty: the present one)"
                  error={error}
                />
              )}
              <FlagFields configuration={configuration} />
              <FilterFields choices={choices} integration={integration} />
            </>
          )}
        </Form>
      )}
    </Dialog>
  );
}
