import { useState } from "preact/hooks";
import { client } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { Form, TextField } from "../../components/form.tsx";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import type { ProjectTabProps } from "./project-page.tsx";

const MEANINGS = {
  connected: "Deployments of this project run in the connected account.",
  disconnected: "The project is not connected to a cloud account, so it refuses deployments.",
  disconnecting: "The project disconnects when the last of its deployments has ended.",
} as const;

export function ConnectionTab({ project, can, reload }: ProjectTabProps) {
  const { id, name, connection_status: status } = project;
  const [isDisconnecting, setDisconnecting] = useState(false);
  const mayConnect = can("connectProject") && status !== "disconnecting";
  return (
    <div class="stack loose">
      <Section title="Connection">
        <p>
          <Status of={status} /> {MEANINGS[status]}
        </p>
        {status === "connected" && can("disconnectProject") && (
          <div>
            <Button kind="danger" onClick={() => setDisconnecting(true)}>
              Disconnect
            </Button>
          </div>
        )}
      </Section>
      {mayConnect && <ConnectForm id={id} status={status} reload={reload} />}
      {status === "disconnected" && !mayConnect && (
        <p>An owner of the project can connect it to a cloud account.</p>
      )}
      {isDisconnecting && (
        <Confirm
          title={`Disconnect ${name}`}
          verb="Disconnect"
          typed={name}
          done="The project disconnects."
          onClose={() => setDisconnecting(false)}
          work={async () => {
            await client.patch("/v1/projects/{project_id}/disconnect", {
              path: { project_id: id },
            });
            await reload();
          }}
        >
          <p>This cancels the deployments that have not ended. New ones are refused.</p>
        </Confirm>
      )}
    </div>
  );
}

interface ConnectFormProps {
  id: string;
  status: string;
  reload: () => Promise<void>;
}

function ConnectForm({ id, status, reload }: ConnectFormProps) {
  const isConnected = status === "connected";
  return (
    <Section title={isConnected ? "Replace the connection" : "Connect an AWS account"}>
      <Form
        verb={isConnected ? "Replace" : "Connect"}
        done="The project is connected."
        submit={async (fields) => {
          await client.put("/v1/projects/{project_id}/connection", {
            path: { project_id: id },
            body: {
              provider: "aws",
              account_id: fields.text("account_id"),
              region: fields.text("region"),
              role_arn: fields.optional("role_arn") ?? null,
              external_id: fields.optional("external_id") ?? null,
            },
          });
          await reload();
        }}
      >
        {(error) => (
          <>
            <TextField
              name="account_id"
              label="Account ID"
              hint="12 digits"
              required
              error={error}
            />
            <TextField
              name="region"
              label="Region"
              hint="Such as eu-west-1"
              required
              error={error}
            />
            <TextField name="role_arn" label="Role ARN (optional)" error={error} />
            <TextField name="external_id" label="External ID (optional)" error={error} />
          </>
        )}
      </Form>
    </Section>
  );
}
