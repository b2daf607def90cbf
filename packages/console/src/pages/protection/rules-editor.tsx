import { useState } from "preact/hooks";
import { inOrder } from "../../../../cli/src/in-order.ts";
import { can as canInOrganization } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { useCommands } from "../../commands.ts";
import { Button } from "../../components/button.tsx";
import { Changes, InlineJsonEditor } from "../../components/edit-json.tsx";
import { type Saving, useEditedVersion } from "../../components/edited-version.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { Pending } from "../../components/list.tsx";
import { showHidden } from "../../format.ts";
import { readAll, readVersion, useReadOnce, type Version } from "../../query.ts";
import { navigate, queryOf, ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { useMembers } from "./members.ts";
import { type Named, RuleCards } from "./rule-cards.tsx";
import { type Option, ShowProblems } from "./rule-controls.tsx";
import { type Rules, type RulesForm, toForm, toRules } from "./rules-form.ts";

export const PROTECTION = "/v1/environments/{environment_id}/protection" as const;
const PAGE_ITEMS = 100;
const DONE = "Rules saved.";

interface RulesEditorProps {
  environment: Schemas["Environment"];
  /** Called when the rules are saved, or to begin again. */
  onClose: () => void;
}

/** The rules as a form, or as JSON. What was entered in one stays there while the other is shown. */
export function RulesEditor({ environment, onClose }: RulesEditorProps) {
  const url = `${ROOT}environments/${environment.id}/protection`;
  const isJson = queryOf("view") === "json";
  const [wasJson, setJson] = useState(isJson);
  if (isJson && !wasJson) setJson(true);
  useCommands([["Edit the rules as JSON", () => navigate(`${url}?view=json`)]]);
  const saving = savingOf(environment.id, onClose);
  return (
    <div class="stack">
      <nav class="row" aria-label="Editor">
        <a
          class={isJson ? "chip" : "chip on"}
          href={url}
          aria-current={isJson ? undefined : "page"}
        >
          Form
        </a>
        <a
          class={isJson ? "chip on" : "chip"}
          href={`${url}?view=json`}
          aria-current={isJson ? "page" : undefined}
        >
          JSON
        </a>
      </nav>
      <div hidden={isJson}>
        <FormEditor environment={environment} saving={saving} />
      </div>
      {wasJson && (
        <div class="wide-editor" hidden={!isJson}>
          <InlineJsonEditor
            {...saving}
            label="Rules"
            hint={
              <a href="/docs/guides/protection" target="_blank" rel="noreferrer">
                What each rule does
              </a>
            }
            done={DONE}
            cancelVerb="Discard"
          />
        </div>
      )}
    </div>
  );
}

function savingOf(id: string, onClose: () => void): Saving {
  const path = { environment_id: id };
  return {
    read: async () => {
      const { value, etag } = await readVersion(PROTECTION, path);
      const { environment_id: _, updated_at: __, approvers_verified_by: ___, ...rules } = value;
      return { value: rules, etag };
    },
    save: (rules, ifMatch) =>
      client.put(PROTECTION, { path, body: rules as Schemas["ReplaceProtection"], ifMatch }),
    reload: async () => undefined,
    onClose,
  };
}

interface FormEditorProps {
  environment: Schemas["Environment"];
  saving: Saving;
}

function FormEditor({ environment, saving }: FormEditorProps) {
  const first = useReadOnce(saving.read);
  const named = useNamed(environment);
  if (!first.data || !named.data) {
    return <Pending error={first.error ?? named.error} lines={8} />;
  }
  return <FormFields first={first.data} named={named.data} saving={saving} />;
}

interface NamedOptions extends Named {
  /** The ID of the environment before this one. */
  previousId: string | undefined;
}

function useNamed({ id, project_id }: Schemas["Environment"]): {
  data?: NamedOptions;
  error?: unknown;
} {
  const members = useMembers(project_id);
  const environments = useReadOnce(() =>
    readAll("/v1/projects/{project_id}/environments", {
      path: { project_id },
      query: { limit: PAGE_ITEMS },
    }),
  );
  const trusts = useReadOnce(async () =>
    canInOrganization("listTrusts")
      ? readAll("/v1/orgs/{org_id}/trusts", { path: { org_id: currentWho().organization.id } })
      : [],
  );
  if (!environments.data || !members.data || !trusts.data) {
    return { error: environments.error ?? members.error ?? trusts.error };
  }
  const ordered = inOrder(environments.data);
  const at = ordered.findIndex((each) => each.id === id);
  const others = ordered.filter((each) => each.id !== id);
  return {
    data: {
      previousId: (others[at - 1] ?? others[0])?.id,
      environments: others.map(optionOf),
      members: members.data.map(optionOf),
      people: members.data.filter(({ kind }) => kind === "person").map(optionOf),
      trusts: trusts.data.map(optionOf),
    },
  };
}

function optionOf({ id, name }: { id: string; name: string }): Option {
  return [id, showHidden(name)];
}

interface FormFieldsProps {
  first: Version<unknown>;
  named: NamedOptions;
  saving: Saving;
}

function FormFields({ first, named, saving }: FormFieldsProps) {
  const read = (rules: unknown) =>
    toForm(rules as Rules, {
      environmentId: named.previousId,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    });
  const [form, setForm] = useState<RulesForm>(() => read(first.value));
  const editing = useEditedVersion(first, toRules(form), saving);
  const { patch, others, action } = editing;
  const isShown = patch.length > 0 || others !== undefined;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void editing.submit(DONE);
      }}
    >
      <ShowProblems of={action.error}>
        <RuleCards form={form} setForm={setForm} named={named} />
      </ShowProblems>
      {isShown && (
        <section class="save-bar stack" aria-label="Unsaved changes">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard. */}
          <div class="pair scrolls" tabIndex={0}>
            {others && (
              <Changes title="What the others have changed" patch={others.patch}>
                <div>
                  <Button
                    kind="small"
                    onClick={() => editing.addOthers((merged) => setForm(read(merged)))}
                  >
                    Add it to the form
                  </Button>
                </div>
              </Changes>
            )}
            <Changes title="What you change" patch={patch} />
          </div>
          <ErrorNote error={action.error} />
          <div class="row">
            <Button type="submit" kind="primary" isBusy={editing.isBlocked}>
              Save
            </Button>
            <Button onClick={saving.onClose}>Discard</Button>
            <span class="soft small">
              Deployments that already wait keep the earlier rules, too.
            </span>
          </div>
        </section>
      )}
    </form>
  );
}
