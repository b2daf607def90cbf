import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { ChoiceFilter } from "../../components/filter.tsx";
import { Field } from "../../components/form.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { JsonText } from "../../components/json-text.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { humanize, showHidden } from "../../format.ts";
import { AUDITED_ACTIONS } from "../../generated/audited-actions.ts";
import { useList } from "../../query.ts";
import { queryOf, setQuery } from "../../router.ts";
import type { OrganizationTabProps } from "../tabs.ts";

const ACTIONS = [
  ["", "All"],
  ...AUDITED_ACTIONS.map((action) => [action, action] as const),
] as const;

export function AuditLogTab({ path }: OrganizationTabProps) {
  const query = readFilters();
  const list = useList("/v1/orgs/{org_id}/audit-log", { path, query });
  const parameters = new URLSearchParams(query);
  return (
    <ItemList
      title="Audit log"
      label="Records"
      list={list}
      beside={
        can("exportAuditLog") && (
          <a
            class="button"
            href={`/v1/orgs/${path.org_id}/audit-log/export?${parameters}`}
            download="audit-log.jsonl"
          >
            Export
          </a>
        )
      }
      filters={
        <>
          <ChoiceFilter name="action" label="Action" options={ACTIONS} />
          <TextFilter name="actor" label="Actor (ID)" />
          <TextFilter name="target" label="Target (ID)" />
          <TextFilter name="project_id" label="Project (ID)" />
          <TextFilter name="from" label="From" type="datetime-local" />
          <TextFilter name="to" label="To" type="datetime-local" />
        </>
      }
      row={(entry) => <AuditRow entry={entry} />}
      empty="No record fits the filters."
    />
  );
}

/** Those of the URL, as the operation takes them. */
function readFilters(): Record<string, string> {
  const filters: Record<string, string> = {};
  for (const name of ["action", "actor", "target", "project_id"]) {
    const value = queryOf(name);
    if (value) filters[name] = value;
  }
  for (const name of ["from", "to"]) {
    const time = Date.parse(queryOf(name));
    if (!Number.isNaN(time)) filters[name] = new Date(time).toISOString();
  }
  return filters;
}

interface TextFilterProps {
  name: string;
  label: string;
  type?: "text" | "datetime-local";
}

/** Takes effect when the person leaves the field or presses Enter: an ID is of no use before it is complete. */
function TextFilter({ name, label, type = "text" }: TextFilterProps) {
  return (
    <Field label={label}>
      {(control) => (
        <input
          {...control}
          type={type as "text"}
          class="input"
          autocomplete="off"
          value={queryOf(name)}
          onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim() })}
        />
      )}
    </Field>
  );
}

function AuditRow({ entry }: { entry: Schemas["AuditRecord"] }) {
  const { action, outcome, actor, target, created_at } = entry;
  return (
    <div class="stack">
      <div class="list-item">
        <span>
          <code>{action}</code> {showHidden(target.name ?? target.id)}
          <br />
          <span class="soft small">
            {humanize(actor.type)} {actor.membership_id ?? actor.credential_id}
          </span>
        </span>
        <span class="row">
          {outcome === "refused" && <Status of="refused" />}
          <Time at={created_at} />
        </span>
      </div>
      <details>
        <summary>Details</summary>
        <JsonText value={entry} />
      </details>
    </div>
  );
}
