import { useState } from "preact/hooks";
import { client, type Schemas } from "../../api.ts";
import { type DialogButton, PageButtons } from "../../components/dialog-buttons.tsx";
import { Form, SelectField, TextField } from "../../components/form.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { showHidden } from "../../format.ts";
import { useQuery } from "../../query.ts";
import type { ProjectTabProps } from "../tabs.ts";

const CONNECTION = "/v1/projects/{project_id}/connection";

const MEANINGS = {
  connected: "Runners deploy this project to the place below.",
  disconnected:
    "Runners deploy with what they have themselves, unless somebody has disconnected the project.",
  disconnecting: "The project disconnects when the last of its deployments has ended.",
} as const;

/** The fields of each provider, with a hint. A name that ends with ? is optional. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  aws: { account_id: "12 digits", region: "Such as eu-west-1", "role_arn?": "The role to assume" },
  cloudflare: { account_id: "32 hex digits" },
  kubernetes: { context: "In the runner's kubeconfig", "namespace?": "Default: the context's" },
  ssh: { host: "As the runner's SSH knows it", "user?": "Default: that of the SSH configuration" },
  other: { name: "What people call it" },
};

const PROVIDERS = Object.keys(FIELDS).map((name) => [name, name] as const);

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
        {status === "connected" && <Details path={path} />}
        {mayDisconnect && (
          <div>
            <PageButtons reload={reload} buttons={[disconnect]} />
          </div>
        )}
      </Section>
      {mayConnect && <ConnectForm path={path} status={status} reload={reload} />}
      {status === "disconnected" && !mayConnect && <p>An owner of the project can connect it.</p>}
    </div>
  );
}

/** `account_id` as "Account id". */
function titleOf(field: string): string {
  const words = field.replaceAll("_", " ").replace("?", " (optional)");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface PathProps {
  path: { project_id: string };
}

function Details({ path }: PathProps) {
  const { data } = useQuery(CONNECTION, { path });
  const facts = Object.entries(data ?? {});
  return <Facts facts={facts.map(([name, value]) => [titleOf(name), showHidden(String(value))])} />;
}

interface ConnectFormProps extends PathProps {
  status: string;
  reload: () => Promise<void>;
}

function ConnectForm({ path, status, reload }: ConnectFormProps) {
  const [provider, setProvider] = useState("aws");
  const fields = Object.entries(FIELDS[provider] ?? {});
  const isConnected = status === "connected";
  return (
    <Section title={isConnected ? "Replace the connection" : "Connect"}>
      <Form
        verb={isConnected ? "Replace" : "Connect"}
        done="The project is connected."
        reload={reload}
        submit={(form) => {
          const texts = fields.flatMap(([field]) => {
            const name = field.replace("?", "");
            const text = form.optional(name);
            return text === undefined ? [] : [[name, text] as const];
          });
          const body = { provider, ...Object.fromEntries(texts) } as Schemas["ConnectProject"];
          return client.put(CONNECTION, { path, body });
        }}
      >
        {(error) => (
          <>
            <SelectField
              name="provider"
              label="Provider"
              options={PROVIDERS}
              value={provider}
              onChange={setProvider}
            />
            {fields.map(([field, hint]) => (
              <TextField
                key={`${provider}.${field}`}
                name={field.replace("?", "")}
                label={titleOf(field)}
                hint={hint}
                required={!field.endsWith("?")}
                error={error}
              />
            ))}
          </>
        )}
      </Form>
    </Section>
  );
}
