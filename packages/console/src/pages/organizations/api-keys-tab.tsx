import { useState } from "preact/hooks";
import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { useCommands } from "../../commands.ts";
import { Button } from "../../components/button.tsx";
import { ChoiceFilter, Filter } from "../../components/filter.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { SecretDialog } from "../../components/secret.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { queryOf } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { EditKey, RevokeKey } from "./api-key-dialogs.tsx";
import { CreateKey } from "./create-api-key.tsx";
import type { OrganizationTabProps } from "./organization-page.tsx";

type ApiKey = Schemas["ApiKey"];

type OpenDialog =
  | { kind: "create" }
  | { kind: "show"; secret: string }
  | { kind: "edit" | "revoke"; apiKey: ApiKey };

export function ApiKeysTab({ path }: OrganizationTabProps) {
  const status = queryOf("status") || "active";
  const list = useList("/v1/orgs/{org_id}/api-keys", { path, query: { status } });
  const [dialog, setDialog] = useState<OpenDialog>();
  const text = queryOf("filter").toLowerCase();
  const mayCreate = can("createApiKey");
  const create = () => setDialog({ kind: "create" });
  const close = () => setDialog(undefined);
  const show = async (secret: string) => {
    setDialog({ kind: "show", secret });
    await list.reload();
  };
  useCommands(mayCreate ? [["Create an API key", create]] : []);
  return (
    <Section
      title="API keys"
      actions={
        mayCreate && (
          <Button kind="primary" onClick={create}>
            Create a key
          </Button>
        )
      }
    >
      <div class="filters">
        <Filter label="Filter by name" />
        <ChoiceFilter
          name="status"
          label="Status"
          options={[
            ["", "Active"],
            ["revoked", "Revoked"],
          ]}
        />
      </div>
      <RecordList
        list={list}
        label="API keys"
        keyOf={({ id }) => id}
        filter={({ name }) => name.toLowerCase().includes(text)}
        render={(apiKey) => <KeyRow apiKey={apiKey} open={setDialog} />}
        empty={
          <Empty
            title="No loaded key fits."
            next={
              mayCreate && {
                text: "Create one here, or with the command line:",
                command: "npx longshore keys create deploy",
              }
            }
          />
        }
      />
      {dialog?.kind === "create" && <CreateKey path={path} onClose={close} onCreated={show} />}
      {dialog?.kind === "show" && (
        <SecretDialog
          title="Your new API key"
          what="API key"
          secret={dialog.secret}
          command={`npx longshore login --url ${location.origin}`}
          onClose={close}
        />
      )}
      {dialog?.kind === "edit" && (
        <EditKey apiKey={dialog.apiKey} onClose={close} reload={list.reload} />
      )}
      {dialog?.kind === "revoke" && (
        <RevokeKey apiKey={dialog.apiKey} onClose={close} reload={list.reload} />
      )}
    </Section>
  );
}

function KeyRow({ apiKey, open }: { apiKey: ApiKey; open: (dialog: OpenDialog) => void }) {
  const { id, name, role, last_four, revoked_at } = apiKey;
  const { credential } = currentWho();
  const isCurrent = id === credential.id || id === credential.key_id;
  const actions = [
    !revoked_at && can("updateApiKey") && (["Edit", "edit"] as const),
    can("revokeApiKey") && ([revoked_at ? "Revoke what it made" : "Revoke", "revoke"] as const),
  ].filter((each) => each !== false);
  return (
    <div class="list-item">
      <span>
        {showHidden(name)} <code>…{last_four}</code>{" "}
        <span class="soft small">
          {role}
          {isCurrent && ", of this session"}
        </span>
        <br />
        <span class="soft small">{describeLimits(apiKey)}</span>
        <br />
        <KeyTimes apiKey={apiKey} />
      </span>
      <span class="row">
        {revoked_at && <Status of="revoked" />}
        {actions.map(([label, kind]) => (
          <Button
            key={kind}
            kind="small"
            label={`${label}${revoked_at ? ":" : ""} ${name}`}
            onClick={() => open({ kind, apiKey })}
          >
            {label}
          </Button>
        ))}
      </span>
    </div>
  );
}

function describeLimits({ scopes, project_ids, environment_ids }: ApiKey): string {
  return [
    scopes ? scopes.join(", ") : "Every scope",
    project_ids && `${project_ids.length} projects`,
    environment_ids && `${environment_ids.length} environments`,
  ]
    .filter(Boolean)
    .join("; ");
}

function KeyTimes({ apiKey }: { apiKey: ApiKey }) {
  const { created_at, last_used_at, expires_at } = apiKey;
  return (
    <span class="soft small">
      Created <Time at={created_at} />,{" "}
      {last_used_at ? (
        <>
          used <Time at={last_used_at} />
        </>
      ) : (
        "never used"
      )}
      {expires_at && (
        <>
          , expires <Time at={expires_at} />
        </>
      )}
    </span>
  );
}
