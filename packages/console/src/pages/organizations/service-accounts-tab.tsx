import { can, rolesFrom } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { SelectField, TextField } from "../../components/form.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import type { OrganizationTabProps } from "../tabs.ts";
import { NotFull } from "./not-full.tsx";

type ServiceAccount = Schemas["ServiceAccount"];

const ROLES = [
  ["member", "Member"],
  ["admin", "Admin"],
] as const;

const ACCOUNT = "/v1/orgs/{org_id}/service-accounts/{membership_id}" as const;

const pathOf = ({ org_id, membership_id }: ServiceAccount) => ({ org_id, membership_id });

export function ServiceAccountsTab({ path }: OrganizationTabProps) {
  const list = useList("/v1/orgs/{org_id}/service-accounts", { path });
  return (
    <ItemList
      title="Service accounts"
      list={list}
      buttons={[
        can("createServiceAccount") && {
          verb: "Create a service account",
          kind: "primary",
          dialog: (props) => <EditServiceAccount path={path} {...props} />,
        },
      ]}
      row={({ name, role, created_at }, buttons) => (
        <div class="list-item">
          <span>
            <bdi>{showHidden(name)}</bdi> <span class="soft small">{role}</span>
          </span>
          <span class="row">
            <Time at={created_at} />
            {buttons}
          </span>
        </div>
      )}
      itemButtons={(account) => [
        can("updateServiceAccount") && {
          verb: "Edit",
          label: `Edit ${account.name}`,
          dialog: (props) => <EditServiceAccount account={account} path={path} {...props} />,
        },
        can("deleteServiceAccount") && {
          verb: "Delete",
          label: `Delete ${account.name}`,
          confirm: {
            typed: account.name,
            done: "Service account deleted.",
            text: "Its API keys and the trusts that name it are deleted.",
            work: () => client.delete(ACCOUNT, { path: pathOf(account) }),
          },
        },
      ]}
      empty="A service account is a member for a program. Create a key for it next."
    />
  );
}

interface EditProps extends OrganizationTabProps, OpenDialogProps {
  /** Absent: creates one. */
  account?: ServiceAccount;
}

function EditServiceAccount({ account, path, ...dialog }: EditProps) {
  return (
    <FormDialog
      {...dialog}
      title={account ? `Edit ${showHidden(account.name)}` : "Create a service account"}
      verb={account ? "Save" : "Create"}
      done={account ? "Saved." : "Service account created."}
      submit={(fields) => {
        const role = fields.text("role") as Schemas["ServiceAccountRole"];
        const body = { name: fields.text("name"), role };
        return account
          ? client.patch(ACCOUNT, { path: pathOf(account), body })
          : client.post("/v1/orgs/{org_id}/service-accounts", { path, body });
      }}
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
    </FormDialog>
  );
}
