import type { VNode } from "preact";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { type FormFields, SelectField, TextAreaField, TextField } from "../../components/form.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { formatDuration, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import type { OrganizationTabProps } from "../tabs.ts";
import { readScopes, ScopeFields } from "./scope-fields.tsx";

const GITHUB = "https://token.actions.githubusercontent.com";
const TTL_SECONDS = 3_600;

export function TrustsTab({ path }: OrganizationTabProps) {
  const list = useList("/v1/orgs/{org_id}/trusts", { path });
  return (
    <ItemList
      title="Trusts"
      list={list}
      buttons={[
        can("createTrust") && {
          verb: "Create a trust",
          kind: "primary",
          dialog: (props) => <CreateTrust path={path} {...props} />,
        },
      ]}
      row={(trust, buttons) => <TrustRow trust={trust}>{buttons}</TrustRow>}
      itemButtons={({ id, name }) => [
        can("deleteTrust") && {
          verb: "Delete",
          label: `Delete ${name}`,
          confirm: {
            typed: name,
            done: "Trust deleted.",
            text: "The keys that were exchanged with it stop working.",
            work: () =>
              client.delete("/v1/orgs/{org_id}/trusts/{trust_id}", {
                path: { ...path, trust_id: id },
              }),
          },
        },
      ]}
      empty="There are no trusts."
    >
      <p class="soft">
        With a trust, a CI job exchanges its own token for an API key. No secret is stored.
      </p>
    </ItemList>
  );
}

function TrustRow({ trust, children }: { trust: Schemas["Trust"]; children: VNode }) {
  const { name, issuer, conditions, pool_id, ttl_seconds } = trust;
  return (
    <div class="list-item">
      <span>
        {showHidden(name)}
        <br />
        <span class="soft small">{showHidden(issuer)}</span>
        <br />
        <code>{showHidden(JSON.stringify(conditions))}</code>
      </span>
      <span class="row">
        <span class="soft small">
          {pool_id ? "runner tokens" : "API keys"} for {formatDuration(ttl_seconds * 1000)}
        </span>
        {children}
      </span>
    </div>
  );
}

interface CreateTrustProps extends OrganizationTabProps, OpenDialogProps {}

function CreateTrust({ path, ...dialog }: CreateTrustProps) {
  const subjects = useSubjects(path);
  return (
    <FormDialog
      {...dialog}
      title="Create a trust"
      verb="Create"
      done="Trust created."
      submit={async (fields) =>
        client.post("/v1/orgs/{org_id}/trusts", { path, body: readTrust(fields) })
      }
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
          <TextAreaField
            name="conditions"
            label="Conditions"
            hint="Claims, one per line. * stands for any text without /"
            placeholder={"repository = acme/shop\nref = refs/heads/main"}
          />
          <SelectField
            name="subject"
            label="Gives keys of the service account, or tokens of the pool"
            options={subjects}
          />
          <ScopeFields />
        </>
      )}
    </FormDialog>
  );
}

/** Whose credentials a trust may give, as choices that `readTrust` reads. */
function useSubjects(path: OrganizationTabProps["path"]) {
  const accounts = useList("/v1/orgs/{org_id}/service-accounts", { path });
  const pools = useList("/v1/orgs/{org_id}/runner-pools", { path });
  return [
    ...(accounts.items ?? []).map(
      ({ membership_id, name }) => [`member ${membership_id}`, showHidden(name)] as const,
    ),
    ...(pools.items ?? []).map(
      ({ id, name }) => [`pool ${id}`, `Pool ${showHidden(name)}`] as const,
    ),
  ];
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
