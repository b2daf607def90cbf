import { useState } from "preact/hooks";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, Dialog } from "../../components/dialog.tsx";
import { Field, Form, type FormFields, SelectField, TextField } from "../../components/form.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { formatDuration, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import type { OrganizationTabProps } from "./organization-page.tsx";
import { readScopes, ScopeFields } from "./scope-fields.tsx";

type Trust = Schemas["Trust"];

const GITHUB = "https://token.actions.githubusercontent.com";
const TTL_SECONDS = 3_600;

export function TrustsTab({ path }: OrganizationTabProps) {
  const list = useList("/v1/orgs/{org_id}/trusts", { path });
  const [isCreating, setCreating] = useState(false);
  const [deleted, setDeleted] = useState<Trust>();
  return (
    <Section
      title="Trusts"
      actions={
        can("createTrust") && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            Create a trust
          </Button>
        )
      }
    >
      <p class="soft">
        With a trust, a CI job exchanges its own token for an API key. No secret is stored.
      </p>
      <RecordList
        list={list}
        label="Trusts"
        keyOf={({ id }) => id}
        render={(trust) => (
          <div class="list-item">
            <span>
              {showHidden(trust.name)}
              <br />
              <span class="soft small">{showHidden(trust.issuer)}</span>
              <br />
              <code>{showHidden(JSON.stringify(trust.conditions))}</code>
            </span>
            <span class="row">
              <span class="soft small">
                {trust.pool_id ? "runner tokens" : "API keys"} for{" "}
                {formatDuration(trust.ttl_seconds * 1000)}
              </span>
              {can("deleteTrust") && (
                <Button
                  kind="small"
                  label={`Delete ${trust.name}`}
                  onClick={() => setDeleted(trust)}
                >
                  Delete
                </Button>
              )}
            </span>
          </div>
        )}
        empty={<Empty title="There are no trusts." />}
      />
      {isCreating && (
        <CreateTrust path={path} onClose={() => setCreating(false)} reload={list.reload} />
      )}
      {deleted && (
        <Confirm
          title={`Delete ${showHidden(deleted.name)}`}
          verb="Delete"
          typed={deleted.name}
          done="Trust deleted."
          onClose={() => setDeleted(undefined)}
          work={async () => {
            await client.delete("/v1/orgs/{org_id}/trusts/{trust_id}", {
              path: { ...path, trust_id: deleted.id },
            });
            await list.reload();
          }}
        >
          <p>The keys that were exchanged with it stop working.</p>
        </Confirm>
      )}
    </Section>
  );
}

interface CreateTrustProps extends OrganizationTabProps {
  onClose: () => void;
  reload: () => Promise<void>;
}

function CreateTrust({ path, onClose, reload }: CreateTrustProps) {
  const accounts = useList("/v1/orgs/{org_id}/service-accounts", { path });
  const pools = useList("/v1/orgs/{org_id}/runner-pools", { path });
  const subjects = [
    ...(accounts.items ?? []).map(
      ({ membership_id, name }) => [`member ${membership_id}`, showHidden(name)] as const,
    ),
    ...(pools.items ?? []).map(
      ({ id, name }) => [`pool ${id}`, `Pool ${showHidden(name)}`] as const,
    ),
  ];
  return (
    <Dialog title="Create a trust" onClose={onClose}>
      <Form
        verb="Create"
        done="Trust created."
        onCancel={onClose}
        onDone={onClose}
        submit={async (fields) => {
          await client.post("/v1/orgs/{org_id}/trusts", { path, body: readTrust(fields) });
          await reload();
        }}
      >
        {(error) => (
          <>
            <TextField name="name" label="Name" required error={error} />
            <TextField name="issuer" label="Issuer" value={GITHUB} required error={error} />
            <TextField
              name="audience"
              label="Audience"
              value={location.origin}
              required
              error={error}
            />
            <Field label="Conditions" hint="Claims, one per line. * stands for any text without /">
              {(props) => (
                <textarea
                  {...props}
                  class="input"
                  name="conditions"
                  spellcheck={false}
                  placeholder={"repository = acme/shop\nref = refs/heads/main"}
                />
              )}
            </Field>
            <SelectField
              name="subject"
              label="Gives keys of the service account, or tokens of the pool"
              options={subjects}
            />
            <ScopeFields />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function readTrust(fields: FormFields): Schemas["CreateTrust"] {
  const [kind, id = ""] = fields.text("subject").split(" ");
  const scopes = readScopes(fields);
  return {
    name: fields.text("name"),
    issuer: fields.text("issuer"),
    audience: fields.text("audience"),
    conditions: readConditions(fields.text("conditions")),
    ttl_seconds: TTL_SECONDS,
    ...(kind === "pool" ? { pool_id: id } : { membership_id: id, ...(scopes && { scopes }) }),
  };
}

/** @throws Error if a line is not `claim = value`. */
function readConditions(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const entries = lines.map((line) => {
    const at = line.indexOf("=");
    if (at < 1) throw new Error(`"${line}" is not a condition. Write claim = value.`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
  return Object.fromEntries(entries);
}
