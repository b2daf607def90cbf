import { useState } from "preact/hooks";
import type { Can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { useCommands } from "../../commands.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { Filter } from "../../components/filter.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { queryOf } from "../../router.ts";
import { EditVariable } from "./edit-variable.tsx";
import { PasteVariables } from "./paste-variables.tsx";
import { RevealVariable } from "./reveal-variable.tsx";
import { pathsOf, type VariableScope } from "./scope.ts";

type Variable = Schemas["Variable"];

type OpenDialog =
  | { kind: "create" | "paste" }
  | { kind: "edit" | "reveal" | "delete"; variable: Variable };

interface VariablesProps {
  scope: VariableScope;
  can: Can;
  /** Sets a variable with the command line. */
  command: string;
}

export function Variables({ scope, can, command }: VariablesProps) {
  const { list: pattern, path } = pathsOf(scope);
  const list = useList(pattern, { path, query: { limit: 100 } });
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  const text = queryOf("filter").toLowerCase();
  const mayWrite = can("createEnvironmentVariable");
  useCommands(
    mayWrite
      ? [
          ["Add a variable", () => setDialog({ kind: "create" })],
          ["Paste a .env file", () => setDialog({ kind: "paste" })],
        ]
      : [],
  );
  return (
    <Section
      title="Variables"
      actions={
        mayWrite && (
          <>
            <Button onClick={() => setDialog({ kind: "paste" })}>Paste a .env file</Button>
            <Button kind="primary" onClick={() => setDialog({ kind: "create" })}>
              Add a variable
            </Button>
          </>
        )
      }
    >
      <Filter label="Filter by name" />
      <RecordList
        list={list}
        label="Variables"
        keyOf={({ id }) => id}
        filter={({ name }) => name.toLowerCase().includes(text)}
        render={(variable) => <VariableRow variable={variable} can={can} open={setDialog} />}
        empty={
          text ? (
            <Empty title="No loaded variable has this name." />
          ) : (
            <Empty
              title="There are no variables."
              next={
                mayWrite && { text: "Add one here, or with the command line:", command: command }
              }
            />
          )
        }
      />
      {dialog?.kind === "create" && (
        <EditVariable scope={scope} variable={undefined} onClose={close} reload={list.reload} />
      )}
      {dialog?.kind === "paste" && (
        <PasteVariables scope={scope} can={can} onClose={close} reload={list.reload} />
      )}
      {dialog?.kind === "edit" && (
        <EditVariable
          scope={scope}
          variable={dialog.variable}
          onClose={close}
          reload={list.reload}
        />
      )}
      {dialog?.kind === "reveal" && <RevealVariable variable={dialog.variable} onClose={close} />}
      {dialog?.kind === "delete" && (
        <DeleteVariable variable={dialog.variable} onClose={close} reload={list.reload} />
      )}
    </Section>
  );
}

interface VariableRowProps {
  variable: Variable;
  can: Can;
  open: (dialog: OpenDialog) => void;
}

function VariableRow({ variable, can, open }: VariableRowProps) {
  const { name, storage_method, updated_at, version } = variable;
  return (
    <div class="list-item">
      <span>
        <code>{showHidden(name)}</code> <span aria-hidden="true">••••••••</span>
        <br />
        <span class="soft small">
          {storage_method}, version {version}, <Time at={updated_at} />
        </span>
      </span>
      <span class="row">
        {can("revealVariable") && (
          <Button
            kind="small"
            label={`Reveal ${name}`}
            onClick={() => open({ kind: "reveal", variable })}
          >
            Reveal
          </Button>
        )}
        {can("replaceVariable") && (
          <Button
            kind="small"
            label={`Edit ${name}`}
            onClick={() => open({ kind: "edit", variable })}
          >
            Edit
          </Button>
        )}
        {can("deleteVariable") && (
          <Button
            kind="small"
            label={`Delete ${name}`}
            onClick={() => open({ kind: "delete", variable })}
          >
            Delete
          </Button>
        )}
      </span>
    </div>
  );
}

interface DeleteVariableProps {
  variable: Variable;
  onClose: () => void;
  reload: () => Promise<void>;
}

function DeleteVariable({ variable, onClose, reload }: DeleteVariableProps) {
  return (
    <Confirm
      title={`Delete ${showHidden(variable.name)}`}
      verb="Delete"
      typed={variable.name}
      done="Variable deleted."
      onClose={onClose}
      work={async () => {
        await client.delete("/v1/variables/{variable_id}", { path: { variable_id: variable.id } });
        await reload();
      }}
    >
      <p>Its value is lost. Deployments that have started keep it.</p>
    </Confirm>
  );
}
