import { useEffect, useState } from "preact/hooks";
import { can as canInOrganization } from "../../access.ts";
import { useAction } from "../../action.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Check, Form, SelectField } from "../../components/form.tsx";
import { Empty, RecordList, Skeleton } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { showHidden } from "../../format.ts";
import { readAll, useList } from "../../query.ts";
import { currentWho } from "../../session.ts";
import type { ProjectTabProps } from "./project-page.tsx";

type ProjectRole = Schemas["ProjectRole"];

const ROLES = [
  ["viewer", "Viewer: reads"],
  ["contributor", "Contributor: reads, deploys and changes environments"],
  ["owner", "Owner: everything in the project"],
] as const;

export function MembersTab({ project, can }: ProjectTabProps) {
  const path = { project_id: project.id };
  const list = useList("/v1/projects/{project_id}/members", { path });
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Schemas["ProjectMember"]>();
  // The choice needs the members of the organization, which only its administrators may list.
  const mayAdd = can("addProjectMembers") && canInOrganization("listMembers");
  return (
    <Section
      title="Members"
      actions={mayAdd && <Button onClick={() => setAdding(true)}>Add members</Button>}
    >
      <p class="soft">Administrators and owners of the organization have every project.</p>
      <RecordList
        list={list}
        label="Members"
        keyOf={({ membership_id }) => membership_id}
        render={(member) => (
          <MemberRow
            member={member}
            mayChange={can("replaceProjectMember")}
            onRemove={() => setRemoved(member)}
            reload={list.reload}
          />
        )}
        empty={<Empty title="The project has no members of its own." />}
      />
      {isAdding && (
        <AddMembers
          projectId={project.id}
          present={list.items ?? []}
          onClose={() => setAdding(false)}
          reload={list.reload}
        />
      )}
      {removed && (
        <Confirm
          title={`Remove ${showHidden(removed.name)}`}
          verb="Remove"
          done="Member removed."
          onClose={() => setRemoved(undefined)}
          work={async () => {
            await client.delete("/v1/projects/{project_id}/members/{member_id}", {
              path: { ...path, member_id: removed.membership_id },
            });
            await list.reload();
          }}
        >
          <p>The member loses access to this project.</p>
        </Confirm>
      )}
    </Section>
  );
}

interface MemberRowProps {
  member: Schemas["ProjectMember"];
  mayChange: boolean;
  onRemove: () => void;
  reload: () => Promise<void>;
}

function MemberRow({ member, mayChange, onRemove, reload }: MemberRowProps) {
  const action = useAction();
  const name = showHidden(member.display_name || member.name);
  const change = (role: string) =>
    action.run(async () => {
      await client.put("/v1/projects/{project_id}/members/{member_id}", {
        path: { project_id: member.project_id, member_id: member.membership_id },
        body: { role: role as ProjectRole },
      });
      await reload();
    }, `${name} is now ${role}.`);
  return (
    <>
      <div class="list-item">
        <span>
          {name} <span class="soft small">{member.org_role} of the organization</span>
        </span>
        {mayChange ? (
          <span class="row">
            <select
              class="input auto"
              aria-label={`Role of ${name}`}
              onChange={(event) => change(event.currentTarget.value)}
            >
              {ROLES.map(([role]) => (
                <option key={role} value={role} selected={role === member.role}>
                  {role}
                </option>
              ))}
            </select>
            <Button kind="small" label={`Remove ${name}`} onClick={onRemove}>
              Remove
            </Button>
          </span>
        ) : (
          <span>{member.role}</span>
        )}
      </div>
      <ErrorNote error={action.error} />
    </>
  );
}

interface AddMembersProps {
  projectId: string;
  present: readonly Schemas["ProjectMember"][];
  onClose: () => void;
  reload: () => Promise<void>;
}

function AddMembers({ projectId, present, onClose, reload }: AddMembersProps) {
  const [members, setMembers] = useState<Schemas["Member"][]>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const { id } = currentWho().organization;
    readAll("/v1/orgs/{org_id}/members", { path: { org_id: id } }).then(setMembers, setError);
  }, []);
  const others = members?.filter(
    ({ membership_id: id }) => !present.some(({ membership_id }) => membership_id === id),
  );
  return (
    <Dialog title="Add members" onClose={onClose}>
      <ErrorNote error={error} />
      {!others && error === undefined && <Skeleton />}
      {others && (
        <Form
          verb="Add"
          done="Members added."
          onCancel={onClose}
          onDone={onClose}
          submit={async (fields) => {
            const body = {
              member_ids: fields.all("member"),
              role: fields.text("role") as ProjectRole,
            };
            const path = { project_id: projectId };
            await client.post("/v1/projects/{project_id}/members", { path, body });
            await reload();
          }}
        >
          {() => (
            <>
              <fieldset class="stack">
                <legend>Members of the organization</legend>
                {others.length === 0 && <p>All of them are in the project.</p>}
                <div class="checks">
                  {others.map(({ membership_id, display_name }) => (
                    <Check
                      key={membership_id}
                      name="member"
                      value={membership_id}
                      label={showHidden(display_name)}
                    />
                  ))}
                </div>
              </fieldset>
              <SelectField name="role" label="Role" options={ROLES} value="contributor" />
            </>
          )}
        </Form>
      )}
    </Dialog>
  );
}
