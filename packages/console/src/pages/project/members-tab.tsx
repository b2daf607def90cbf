import { can as canInOrganization } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import type { ConfirmationOf, OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { Choices, Form, SelectField } from "../../components/form.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { Pending } from "../../components/list.tsx";
import { MemberRow } from "../../components/member-row.tsx";
import { showHidden } from "../../format.ts";
import { readAll, useList, useReadOnce } from "../../query.ts";
import { currentWho } from "../../session.ts";
import type { ProjectTabProps } from "../tabs.ts";

type ProjectMember = Schemas["ProjectMember"];
type ProjectRole = Schemas["ProjectRole"];

const MEMBER = "/v1/projects/{project_id}/members/{member_id}" as const;

const ROLES = [
  ["viewer", "Viewer: reads"],
  ["contributor", "Contributor: reads, deploys and changes environments"],
  ["owner", "Owner: everything in the project"],
] as const;

export function MembersTab({ project, can }: ProjectTabProps) {
  const path = { project_id: project.id };
  const list = useList("/v1/projects/{project_id}/members", { path });
  // The choice needs the members of the organization, which only its administrators may list.
  const mayAdd = can("addProjectMembers") && canInOrganization("listMembers");
  const mayChange = can("replaceProjectMember");
  return (
    <ItemList
      title="Members"
      list={list}
      buttons={[
        mayAdd && {
          verb: "Add members",
          dialog: (props) => <AddMembers path={path} present={list.items ?? []} {...props} />,
        },
      ]}
      row={(member, buttons) => (
        <MemberRow
          name={nameOf(member)}
          title={
            <>
              {nameOf(member)} <span class="soft small">{member.org_role} of the organization</span>
            </>
          }
          role={member.role}
          roles={mayChange ? ROLES.map(([role]) => [role, role] as const) : undefined}
          change={async (role) => {
            await changeRole(member, role);
            await list.reload();
          }}
        >
          {buttons}
        </MemberRow>
      )}
      itemButtons={(member) => [
        mayChange && {
          verb: "Remove",
          label: `Remove ${nameOf(member)}`,
          confirm: confirmRemoval(member),
        },
      ]}
      empty="The project has no members of its own."
    >
      <p class="soft">Administrators and owners of the organization have every project.</p>
    </ItemList>
  );
}

function nameOf({ display_name, name }: ProjectMember): string {
  return showHidden(display_name || name);
}

function pathOf({ project_id, membership_id }: ProjectMember) {
  return { project_id, member_id: membership_id };
}

async function changeRole(member: ProjectMember, role: string) {
  return client.put(MEMBER, { path: pathOf(member), body: { role: role as ProjectRole } });
}

function confirmRemoval(member: ProjectMember): ConfirmationOf {
  return {
    title: `Remove ${showHidden(member.name)}`,
    done: "Member removed.",
    text: "The member loses access to this project.",
    work: () => client.delete(MEMBER, { path: pathOf(member) }),
  };
}

interface AddMembersProps extends OpenDialogProps {
  path: { project_id: string };
  present: readonly ProjectMember[];
}

function AddMembers({ path, present, ...dialog }: AddMembersProps) {
  const { data: members, error } = useReadOnce(() =>
    readAll("/v1/orgs/{org_id}/members", { path: { org_id: currentWho().organization.id } }),
  );
  const others = members?.filter(
    ({ membership_id: id }) => !present.some(({ membership_id }) => membership_id === id),
  );
  return (
    <Dialog title="Add members" onClose={dialog.onClose}>
      {!others && <Pending error={error} />}
      {others && (
        <Form
          {...dialog}
          verb="Add"
          done="Members added."
          submit={(fields) => {
            const role = fields.text("role") as ProjectRole;
            const body = { member_ids: fields.all("member"), role };
            return client.post("/v1/projects/{project_id}/members", { path, body });
          }}
        >
          {() => (
            <>
              <Choices
                name="member"
                legend="Members of the organization"
                options={others.map((each) => [each.membership_id, showHidden(each.display_name)])}
                none="All of them are in the project."
              />
              <SelectField name="role" label="Role" options={ROLES} value="contributor" />
            </>
          )}
        </Form>
      )}
    </Dialog>
  );
}
