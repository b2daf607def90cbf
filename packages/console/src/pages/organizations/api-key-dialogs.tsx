import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { TextField } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { FAMILY_PAGE, RevokeFamily } from "./revoke-family.tsx";
import { readScopes, ScopeFields } from "./scope-fields.tsx";

type ApiKey = Schemas["ApiKey"];

const pathOf = ({ org_id, id }: ApiKey) => ({ org_id, key_id: id });

interface KeyDialogProps extends OpenDialogProps {
  apiKey: ApiKey;
}

export function EditKey({ apiKey, ...dialog }: KeyDialogProps) {
  const { name, scopes } = apiKey;
  return (
    <FormDialog
      {...dialog}
      title={`Edit ${showHidden(name)}`}
      verb="Save"
      done="Saved."
      submit={(fields) => {
        const kept = readScopes(fields);
        const body = { name: fields.text("name"), ...(kept && { scopes: kept }) };
        const path = pathOf(apiKey);
        return client.patch("/v1/orgs/{org_id}/api-keys/{key_id}", { path, body });
      }}
    >
      {(error) => (
        <>
          <TextField name="name" label="Name" value={name} required error={error} />
          <ScopeFields offered={scopes} chosen={scopes} />
          <p class="soft small">A key can keep some of its scopes, and gets no more.</p>
        </>
      )}
    </FormDialog>
  );
}

/** Of what is left of the family, if the key is revoked already. */
export function RevokeKey({ apiKey, ...dialog }: KeyDialogProps) {
  const { name, revoked_at } = apiKey;
  const path = pathOf(apiKey);
  const query = { limit: FAMILY_PAGE };
  const family = useList("/v1/orgs/{org_id}/api-keys/{key_id}/family", { path, query });
  return (
    <RevokeFamily
      {...dialog}
      title={`Revoke ${revoked_at ? "what was made with " : ""}${showHidden(name)}`}
      done={revoked_at ? "Family revoked." : "API key revoked."}
      family={family}
      hasEnded={revoked_at !== undefined}
      endsAnyway={["session", "sign_in_link"]}
      revoke={(descendants) =>
        client.delete("/v1/orgs/{org_id}/api-keys/{key_id}", {
          path,
          ...(descendants && { query: { descendants } }),
        })
      }
    >
      {revoked_at ? (
        <p>The key is revoked already. What it made may still be valid.</p>
      ) : (
        <p>Its next request is refused. Sessions that it started end.</p>
      )}
    </RevokeFamily>
  );
}
