import type { ComponentChildren } from "preact";
import { isSensitive } from "../../../../cli/src/variables/sensitive.ts";
import type { Can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { LinkButton } from "../../components/button.tsx";
import type { ConfirmationOf } from "../../components/dialog-buttons.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { EditVariable } from "./edit-variable.tsx";
import { PasteVariables } from "./paste-variables.tsx";
import { RevealVariable } from "./reveal-variable.tsx";
import { pathsOf, type VariableScope } from "./scope.ts";

type Variable = Schemas["Variable"];

interface VariablesProps {
  scope: VariableScope;
  can: Can;
  projectId: string;
  /** Sets a variable with the command line. */
  command: string;
}

export function Variables({ scope, can, projectId, command }: VariablesProps) {
  const { list: pattern, path } = pathsOf(scope);
  const list = useList(pattern, { path, query: { limit: 100 } });
  const mayWrite = can("createEnvironmentVariable");
  return (
    <ItemList
      title="Variables"
      list={list}
      buttons={[
        mayWrite && {
          verb: "Paste a .env file",
          inPalette: "Paste a .env file",
          dialog: (props) => <PasteVariables scope={scope} can={can} {...props} />,
        },
        mayWrite && {
          verb: "Add a variable",
          kind: "primary",
          inPalette: "Add a variable",
          dialog: (props) => <EditVariable scope={scope} {...props} />,
        },
      ]}
      nameOf={({ name }) => name}
      row={(variable, buttons) => (
        <VariableRow variable={variable}>
          {can("listChangelog") && (
            <LinkButton
              kind="small"
              label={`History of ${showHidden(variable.name)}`}
              href={historyOf(variable, projectId)}
            >
              History
            </LinkButton>
          )}
          {buttons}
        </VariableRow>
      )}
      itemButtons={(variable) => [
        can("revealVariable") && {
          verb: "Reveal",
          label: `Reveal ${variable.name}`,
          dialog: ({ onClose }) => <RevealVariable variable={variable} onClose={onClose} />,
        },
        can("replaceVariable") && {
          verb: "Edit",
          label: `Edit ${variable.name}`,
          dialog: (props) => <EditVariable scope={scope} variable={variable} {...props} />,
        },
        can("deleteVariable") && {
          verb: "Delete",
          label: `Delete ${variable.name}`,
          confirm: confirmDeletion(variable),
        },
      ]}
      empty="There are no variables."
      noneNamed="No loaded variable has this name."
      command={mayWrite && command}
    />
  );
}

/** The activity of the project, filtered by the variable. */
function historyOf({ id, name }: Variable, projectId: string): string {
  const query = new URLSearchParams({ about: name, about_id: id });
  return `${ROOT}projects/${projectId}/activity?${query}`;
}

function VariableRow({ variable, children }: { variable: Variable; children: ComponentChildren }) {
  const { name, storage_method, updated_at, version, warning } = variable;
  return (
    <div class="list-item">
      <span>
        <code>{showHidden(name)}</code> <span aria-hidden="true">••••••••</span>
        <br />
        <span class="soft small">
          {isSensitive(storage_method) ? "Sensitive" : "Not sensitive"} ({storage_method}), version{" "}
          {version}, <Time at={updated_at} />
        </span>
        {warning && <p class="note attention">{warning}</p>}
      </span>
      <span class="row">{children}</span>
    </div>
  );
}

function confirmDeletion({ id, name }: Variable): ConfirmationOf {
  return {
    typed: name,
    done: "Variable deleted.",
    text: "Its value is lost. Deployments that have started keep it.",
    work: () => client.delete("/v1/variables/{variable_id}", { path: { variable_id: id } }),
  };
}
