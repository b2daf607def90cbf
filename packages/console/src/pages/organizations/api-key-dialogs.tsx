import { useState } from "preact/hooks";
import { client, type Schemas } from "../../api.ts";
import { Confirm, Dialog } from "../../components/dialog.tsx";
import { Check, Form, TextField } from "../../components/form.tsx";
import { OverlapField } from "../../components/overlap-field.tsx";
import { showHidden } from "../../format.ts";
import { readScopes, ScopeFields } from "./scope-fields.tsx";

type ApiKey = Schemas["ApiKey"];

const pathOf = ({ org_id, id }: ApiKey) => ({ org_id, key_id: id });

interface DialogProps {
  apiKey: ApiKey;
  onClose: () => void;
}

export function EditKey({
  apiKey,
  onClose,
  reload,
}: DialogProps & { reload: () => Promise<void> }) {
  const { name, scopes } = apiKey;
  return (
    <Dialog title={`Edit ${showHidden(name)}`} onClose={onClose}>
      <Form
        verb="Save"
        done="Saved."
        onCancel={onClose}
        onDone={onClose}
        submit={async (fields) => {
          const kept = readScopes(fields);
          const body = { name: fields.text("name"), ...(kept && { scopes: kept }) };
          const path = pathOf(apiKey);
          await client.patch("/v1/orgs/{org_id}/api-keys/{key_id}", { path, body });
          await reload();
        }}
      >
        {(error) => (
          <>
            <TextField name="name" label="Name" value={name} required error={error} />
            <ScopeFields offered={scopes} chosen={scopes ?? []} />
            <p class="soft small">A key can keep some of its scopes, and gets no more.</p>
          </>
        )}
      </Form>
    </Dialog>
  );
}

interface RotateKeyProps extends DialogProps {
  onRotated: (secret: string) => Promise<void>;
}

export function RotateKey({ apiKey, onClose, onRotated }: RotateKeyProps) {
  return (
    <Dialog title={`Rotate ${showHidden(apiKey.name)}`} onClose={onClose}>
      <Form
        verb="Rotate"
        done="API key rotated."
        onCancel={onClose}
        submit={async (fields) => {
          const body = { overlap_seconds: Number(fields.text("overlap_seconds")) };
          const path = pathOf(apiKey);
          const { key } = await client.post("/v1/orgs/{org_id}/api-keys/{key_id}/rotate", {
            path,
            body,
          });
          await onRotated(key);
        }}
      >
        {() => <OverlapField what="key" />}
      </Form>
    </Dialog>
  );
}

export function RevokeKey({
  apiKey,
  onClose,
  reload,
}: DialogProps & { reload: () => Promise<void> }) {
  const [withDescendants, setWithDescendants] = useState(true);
  return (
    <Confirm
      title={`Revoke ${showHidden(apiKey.name)}`}
      verb="Revoke"
      done="API key revoked."
      onClose={onClose}
      work={async () => {
        await client.delete("/v1/orgs/{org_id}/api-keys/{key_id}", {
          path: pathOf(apiKey),
          query: { descendants: withDescendants ? "revoke" : "keep" },
        });
        await reload();
      }}
    >
      <p>Its next request is refused. Sessions that it started end.</p>
      <Check
        name="descendants"
        checked={withDescendants}
        onChange={setWithDescendants}
        label="Revoke the keys that were created with it, too"
      />
    </Confirm>
  );
}
