import { client } from "../../api.ts";
import { type DialogButton, PageButtons } from "../../components/dialog-buttons.tsx";
import { Form, TextField } from "../../components/form.tsx";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { showHidden } from "../../format.ts";
import type { ProjectTabProps } from "../tabs.ts";

const MEANINGS = {
  connected: "Deployments of this project run in the connected account.",
  disconnected: "The project is not connected to a cloud account, so it refuses deployments.",
  disconnecting: "The project disconnects when the last of its deployments has ended.",
} as const;

export function ConnectionTab({ project, can, reload }: ProjectTabProps) {
  const { id, name, connection_status: status } = project;
  const path = { project_id: id };
  const mayConnect = can("connectProject") && status !== "disconnecting";
  const mayDisconnect = can("disconnectProject") && status === "connected";
  const disconnect: DialogButton = {
    verb: "Disconnect",
    kind: "danger",
    confirm: {
      title: `Disconnect ${showHidden(name)}`,
      typed: name,
      done: "The project disconnects.",
      text: "This cancels the deployments that have not ended. New ones are refused.",
      work: () => client.patch("/v1/projects/{project_id}/disconnect", { path }),
    },
  };
  return (
    <div class="stack loose">
      <Section title="Connection">
        <p>
          <Status of={status} /> {MEANINGS[status]}
        </p>
        {mayDisconnect && (
          <div>
            <PageButtons reload={reload} buttons={[disconnect]} />
          </div>
        )}
      </Section>
      {mayConnect && <ConnectForm path={path} status={status} reload={reload} />}
      {status === "disconnected" && !mayConnect && (
        <p>An owner of the project can connect it to a cloud account.</p>
      )}
    </div>
  );
}

interface ConnectFormProps {
  path: { project_id: string };
  status: string;
  reload: () => Promise<void>;
}

function ConnectForm({ path, status, reload }: ConnectFormProps) {
  const isConnected = status === "connected";
  return (
    <Section title={isConnected ? "Replace the connection" : "Connect an AWS account"}>
      <Form
        verb={isConnected ? "Replace" : "Connect"}
        done="The project is connected."
        reload={reload}
        submit={(fields) => {
          const body = {
            provider: "aws",
            account_id: fields.text("account_id"),
            region: fields.text("region"),
            role_arn: fields.optional("role_arn") ?? null,
            external_id: fields.optional("external_id") ?? null,
          } as const;
          return client.put("/v1/projects/{project_id}/connection", { path, body });
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
