import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { useAction } from "../../action.ts";
import { client } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { TextField } from "../../components/form.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { Status } from "../../components/status.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import type { ProjectTabProps } from "../tabs.ts";
import { FilterFields, readFilters, useFilterChoices } from "./filters.tsx";
import { describeFlags, FlagFields, readFlags } from "./flags.tsx";
import { linkIntegration, stateOf, targetOf } from "./integration.ts";

export function IntegrationsTab({ project, can }: ProjectTabProps) {
  const path = { project_id: project.id };
  const list = useList("/v1/projects/{project_id}/notification-integrations", { path }, "on");
  const mayCreate = can("createIntegration");
  const slack = useSlack(path);
  return (
    <ItemList
      title="Integrations"
      list={list}
      beside={
        can("installSlack") && (
          <Button isBusy={slack.isRunning} onClick={slack.install}>
            Add to Slack
          </Button>
        )
      }
      buttons={[
        mayCreate && {
          verb: "Create a webhook",
          kind: "primary",
          inPalette: "Create a webhook",
          dialog: (props) => <CreateWebhook path={path} {...props} />,
        },
      ]}
      row={(integration) => (
        <div class="list-item">
          <span>
            <a href={linkIntegration({ ...path, integration_id: integration.id })}>
              {showHidden(targetOf(integration))}
            </a>
            <br />
            <span class="soft small">{describeFlags(integration.configuration)}</span>
          </span>
          <Status of={stateOf(integration)} />
        </div>
      )}
      empty="Nothing is notified."
      command={
        mayCreate && `${RUN_CLI} integrations create https://example.com/hook -p ${project.id}`
      }
    >
      <ErrorNote error={slack.error} />
    </ItemList>
  );
}

/** Slack asks the person for access, and leads back. */
function useSlack(path: { project_id: string }) {
  const { run, ...action } = useAction();
  const install = () =>
    run(async () => {
      const { url } = await client.get("/v1/projects/{project_id}/slack/install", { path });
      location.assign(url);
    });
  return { ...action, install };
}

interface CreateWebhookProps extends OpenDialogProps {
  path: { project_id: string };
}

function CreateWebhook({ path, showSecret, ...dialog }: CreateWebhookProps) {
  const { data: choices, error: loadError } = useFilterChoices(path.project_id);
  return (
    <FormDialog
      {...dialog}
      title="Create a webhook"
      verb="Create"
      done="Webhook created."
      submit={async (fields) => {
        const body = {
          type: "webhook",
          url: fields.text("url"),
          configuration: readFlags(fields),
          ...readFilters(fields),
        } as const;
        const pattern = "/v1/projects/{project_id}/notification-integrations";
        const { secret } = await client.post(pattern, { path, body });
        showSecret({ title: "The secret of the webhook", what: "Webhook secret", secret });
      }}
    >
      {(error) => (
        <>
          <TextField name="url" type="url" label="URL" required error={error} />
          <FlagFields />
          <ErrorNote error={loadError} />
          {choices && <FilterFields choices={choices} />}
        </>
      )}
    </FormDialog>
  );
}
