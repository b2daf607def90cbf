import { useState } from "preact/hooks";
import { can, rolesFrom } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, Dialog } from "../../components/dialog.tsx";
import { Form, SelectField, TextField } from "../../components/form.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { NotFull } from "./not-full.tsx";
import type { OrganizationTabProps } from "./organization-page.tsx";

type ServiceAccount = Schemas["ServiceAccount"];

const ROLES = [
  ["member", "Member"],
  ["admin", "Admin"],
] as const;

const PATTERN = "/v1/orgs/{org_id}/service-accounts/{membership_id}";

export function ServiceAccountsTab({ path }: OrganizationTabProps) {
  const list = useList("/v1/orgs/{org_id}/service-accounts", { path });
  /** Null to create one. */
  const [edited, setEdited] = useState<ServiceAccount | null>();
  const [deleted, setDeleted] = useState<ServiceAccount>();
  return (
    <Section
      title="Service accounts"
      actions={
        can("createServiceAccount") && (
          <Button kind="primary" onClick={() => setEdited(null)}>
            Create a service account
          </Button>
        )
      }
    >
      <RecordList
        list={list}
        label="Service accounts"
        keyOf={({ membership_id }) => membership_id}
        render={(account) => (
          <div class="list-item">
            <span>
              {showHidden(account.name)} <span class="soft small">{account.role}</span>
            </span>
            <span class="row">
              <Time at={account.created_at} />
              {can("updateServiceAccount") && (
                <Button
                  kind="small"
                  label={`Edit ${account.name}`}
                  onClick={() => setEdited(account)}
                >
                  Edit
                </Button>
              )}
              {can("deleteServiceAccount") && (
                <Button
                  kind="small"
                  label={`Delete ${account.name}`}
                  onClick={() => setDeleted(account)}
                >
                  Delete
                </Button>
              )}
            </span>
          </div>
        )}
        empty={
          <Empty title="A service account is a member for a program. Create a key for it next." />
        }
      />
      {edited !== undefined && (
        <EditServiceAccount
          account={edited}
          path={path}
          onClose={() => setEdited(undefined)}
          reload={list.reload}
        />
      )}
      {deleted && (
        <Confirm
          title={`Delete ${showHidden(deleted.name)}`}
          verb="Delete"
          typed={deleted.name}
          done="Service account deleted."
          onClose={() => setDeleted(undefined)}
          work={async () => {
            await client.delete(PATTERN, {
              path: { ...path, membership_id: deleted.membership_id },
            });
            await list.reload();
          }}
        >
          <p>Its API keys and the trusts that name it are deleted.</p>
        </Confirm>
      )}
    </Section>
  );
}

interface EditProps extends OrganizationTabProps {
  account: ServiceAccount | null;
  onClose: () => void;
  reload: () => Promise<void>;
}

function EditServiceAccount({ account, path, onClose, reload }: EditProps) {
  const save = async (body: Schemas["CreateServiceAccount"]) => {
    if (account) {
      const membership_id = account.membership_id;
      await client.patch(PATTERN, { path: { ...path, membership_id }, body });
    } else {
      await client.post("/v1/orgs/{org_id}/service-accounts", { path, body });
    }
    await reload();
  };
  return (
    <Dialog
      title={account ? `Edit ${showHidden(account.name)}` : "Create a service account"}
      onClose={onClose}
    >
      <Form
        verb={account ? "Save" : "Create"}
        done={account ? "Saved." : "Service account created."}
        onCancel={onClose}
        onDone={onClose}
        submit={(fields) =>
          save({
            name: fields.text("name"),
            role: fields.text("role") as Schemas["ServiceAccountRole"],
          })
        }
      >
        {(error) => (
          <>
            <TextField name="name" label="Name" value={account?.name} required error={error} />
            <SelectField
              name="role"
              label="Role"
              options={account ? rolesFrom(ROLES, account.role) : ROLES}
              value={account?.role}
            />
            {account && <NotFull />}
          </>
        )}
      </Form>
    </Dialog>
  );
}
