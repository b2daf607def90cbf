import type { Can } from "../../access.ts";
import { useAction } from "../../action.ts";
import { client, type Schemas } from "../../api.ts";
import { Button, type ButtonKind } from "../../components/button.tsx";
import { Dialog, FormDialog } from "../../components/dialog.tsx";
import {
  type Buttons,
  type OpenDialogProps,
  PageButtons,
} from "../../components/dialog-buttons.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Form, TextField } from "../../components/form.tsx";
import { navigate, ROOT } from "../../router.ts";
import { FilterFields, readFilters, useFilterChoices } from "./filters.tsx";
import { FlagFields, readFlags } from "./flags.tsx";
import { INTEGRATION, type IntegrationPath, isSending, stateOf } from "./integration.ts";

interface ActionsProps {
  integration: Schemas["Integration"];
  path: IntegrationPath;
  can: Can;
  reload: () => Promise<void>;
}

export function IntegrationActions(props: ActionsProps) {
  const { reload } = props;
  const action = useAction();
  const run = ({ work, done }: Change) =>
    action.run(async () => {
      await work();
      await reload();
    }, done);
  return (
    <>
      {changesOf(props).map((change) => (
        <Button
          key={change.verb}
          kind={change.kind}
          isBusy={action.isRunning}
          onClick={() => run(change)}
        >
          {change.verb}
        </Button>
      ))}
      <PageButtons reload={reload} buttons={buttonsOf(props)} />
      <ErrorNote error={action.error} />
    </>
  );
}

function buttonsOf({ integration, path, can }: ActionsProps): Buttons {
  return [
    can("updateIntegration") && {
      verb: "Edit",
      dialog: (props) => <EditIntegration integration={integration} path={path} {...props} />,
    },
    integration.type === "webhook" &&
      can("rotateIntegrationSecret") && {
        verb: "Rotate the secret",
        dialog: (props) => <RotateSecret path={path} {...props} />,
      },
    can("deleteIntegration") && {
      verb: "Delete",
      kind: "danger",
      confirm: {
        title: "Delete the integration",
        typed: "delete",
        done: "Integration deleted.",
        text: "Its deliveries are deleted with it, also those that are still to be sent.",
        work: () => client.delete(INTEGRATION, { path }),
        leave: () => navigate(`${ROOT}projects/${path.project_id}/integrations`),
      },
    },
  ];
}

interface Change {
  verb: string;
  kind?: ButtonKind;
  work: () => Promise<unknown>;
  /** Announced when it has worked. */
  done: string;
}

/** What the state of the integration allows without a dialog. */
function changesOf({ integration, path, can }: ActionsProps): Change[] {
  const state = stateOf(integration);
  const changes: (Change | false)[] = [
    state === "unconfirmed" &&
      can("confirmIntegration") && {
        verb: "Confirm",
        kind: "primary",
        work: () => client.post(`${INTEGRATION}/confirm`, { path }),
        done: "Confirmed.",
      },
    state === "disabled" &&
      can("updateIntegration") && {
        verb: "Enable",
        kind: "primary",
        work: () => client.patch(INTEGRATION, { path, body: {} }),
        done: "Enabled.",
      },
    state === "paused" &&
      can("resumeIntegration") && {
        verb: "Resume",
        work: () => client.post(`${INTEGRATION}/resume`, { path }),
        done: "Resumed.",
      },
    isSending(state) &&
      can("pingIntegration") && {
        verb: "Ping",
        work: () => client.post(`${INTEGRATION}/ping`, { path }),
        done: "Ping sent.",
      },
  ];
  return changes.filter((each) => each !== false);
}

interface RotateSecretProps extends OpenDialogProps {
  path: IntegrationPath;
}

function RotateSecret({ path, showSecret, ...dialog }: RotateSecretProps) {
  return (
    <FormDialog
      {...dialog}
      title="Rotate the secret"
      verb="Rotate"
      done="Secret rotated."
      submit={async () => {
        const { secret } = await client.post(`${INTEGRATION}/rotate-secret`, { path });
        showSecret({ title: "The new secret", what: "Webhook secret", secret });
      }}
    >
      {() => <p>Deliveries have signatures with both secrets for 24 hours.</p>}
    </FormDialog>
  );
}

interface EditIntegrationProps extends OpenDialogProps {
  integration: Schemas["Integration"];
  path: IntegrationPath;
}

function EditIntegration({ integration, path, ...dialog }: EditIntegrationProps) {
  const { data: choices, error: loadError } = useFilterChoices(path.project_id);
  return (
    <Dialog title="Edit the integration" onClose={dialog.onClose}>
      <ErrorNote error={loadError} />
      {choices && (
        <Form
          {...dialog}
          verb="Save"
          done="Saved."
          submit={(fields) => {
            const url = fields.optional("url");
            const body = {
              configuration: readFlags(fields),
              ...readFilters(fields),
              ...(url !== undefined && { url }),
            };
            return client.patch(INTEGRATION, { path, body });
          }}
        >
          {(error) => (
            <>
              {integration.type === "webhook" && (
                <TextField
                  name="url"
                  type="url"
                  label="New URL (empty: the present one)"
                  error={error}
                />
              )}
              <FlagFields configuration={integration.configuration} />
              <FilterFields choices={choices} integration={integration} />
            </>
          )}
        </Form>
      )}
    </Dialog>
  );
}
