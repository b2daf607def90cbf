import { useState } from "preact/hooks";
import { useAction } from "../../action.ts";
import { client } from "../../api.ts";
import { useCommands } from "../../commands.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Form, TextField } from "../../components/form.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { SecretDialog } from "../../components/secret.tsx";
import { Status } from "../../components/status.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import type { ProjectTabProps } from "../project/project-page.tsx";
import { FilterFields, readFilters, useFilterChoices } from "./filters.tsx";
import { describeFlags, FlagFields, readFlags } from "./flags.tsx";
import { stateOf, targetOf } from "./state.ts";

export function IntegrationsTab({ project, can }: ProjectTabProps) {
  const path = { project_id: project.id };
  const list = useList("/v1/projects/{project_id}/notification-integrations", { path }, "on");
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string>();
  const slack = useAction();
  const mayCreate = can("createIntegration");
  const create = () => setCreating(true);
  useCommands(mayCreate ? [["Create a webhook", create]] : []);
  const installSlack = () =>
    slack.run(async () => {
      const { url } = await client.get("/v1/projects/{project_id}/slack/install", { path });
      location.assign(url);
    });
  return (
    <Section
      title="Integrations"
      actions={
        <>
          {can("installSlack") && (
            <Button isBusy={slack.isRunning} onClick={installSlack}>
              Add to Slack
            </Button>
          )}
          {mayCreate && (
            <Button kind="primary" onClick={create}>
              Create a webhook
            </Button>
          )}
        </>
      }
    >
      <ErrorNote error={slack.error} />
      <RecordList
        list={list}
        label="Integrations"
        keyOf={({ id }) => id}
        render={(integration) => (
          <div class="list-item">
            <span>
              <a href={`${ROOT}projects/${project.id}/integrations/${integration.id}`}>
                {showHidden(targetOf(integration))}
              </a>
              <br />
              <span class="soft small">{describeFlags(integration.configuration)}</span>
            </span>
            <Status of={stateOf(integration)} />
          </div>
        )}
        empty={
          <Empty
            title="Nothing is notified."
            next={
              mayCreate && {
                text: "Create a webhook here, or with the command line:",
                command: `npx longshore integrations create https://example.com/hook -p ${project.id}`,
              }
            }
          />
        }
      />
      {isCreating && (
        <CreateWebhook
          projectId={project.id}
          onClose={() => setCreating(false)}
          onCreated={async (created) => {
            setCreating(false);
            setSecret(created);
            await list.reload();
          }}
        />
      )}
      {secret !== undefined && (
        <SecretDialog
          title="The secret of the webhook"
          what="Webhook secret"
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </Section>
  );
}

interface CreateWebhookProps {
  projectId: string;
  onClose: () => void;
  onCreated: (secret: string) => Promise<void>;
}

function CreateWebhook({ projectId, onClose, onCreated }: CreateWebhookProps) {
  const path = { project_id: projectId };
  const { choices, error: loadError } = useFilterChoices(projectId);
  return (
    <Dialog title="Create a webhook" onClose={onClose}>
      <Form
        verb="Create"
        done="Webhook created."
        onCancel={onClose}
        submit={async (fields) => {
          const { secret } = await client.post(
            "/v1/projects/{project_id}/notification-integrations",
            {
              path,
              body: {
                type: "webhook",
                url: fields.text("url"),
                configuration: readFlags(fields),
                ...readFilters(fields),
              },
            },
          );
          await onCreated(secret);
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
      </Form>
    </Dialog>
  );
}
