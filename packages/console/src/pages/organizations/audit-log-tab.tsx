import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { ChoiceFilter, SearchFilter } from "../../components/filter.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { JsonText } from "../../components/json-text.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { humanize, showHidden } from "../../format.ts";
import { AUDITED_ACTIONS } from "../../generated/audited-actions.ts";
import { useList } from "../../query.ts";
import { queryOf } from "../../router.ts";
import type { OrganizationTabProps } from "../tabs.ts";

const ACTIONS = [
  ["", "All"],
  ...AUDITED_ACTIONS.map((action) => [action, action] as const),
] as const;

const ID = /^[1-9A-HJ-NP-Za-km-z]{22}$/;

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
          <SearchFilter name="actor" label="Actor (name or ID)" />
          <SearchFilter name="target" label="Target (name or ID)" />
          <SearchFilter name="project_id" label="Project (ID)" />
          <SearchFilter name="from" label="From" type="datetime-local" />
          <SearchFilter name="to" label="To" type="datetime-local" />
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
  for (const name of ["action", "project_id"]) {
    const value = queryOf(name);
    if (value) filters[name] = value;
  }
  for (const name of ["actor", "target"]) {
    const value = queryOf(name);
    if (value) filters[ID.test(value) ? name : `${name}_name`] = value;
  }
  for (const name of ["from", "to"]) {
    const time = Date.parse(queryOf(name));
    if (!Number.isNaN(time)) filters[name] = new Date(time).toISOString();
  }
  return filters;
}

function AuditRow({ entry }: { entry: Schemas["AuditRecord"] }) {
  const { action, outcome, actor, target, created_at } = entry;
  return (
    <div class="stack">
      <div class="list-item">
        <span>
          <code>{action}</code> <bdi>{showHidden(target.name ?? target.id)}</bdi>
          <br />
          <span class="soft small">
            {humanize(actor.type)}{" "}
            <bdi>
              {actor.name ? showHidden(actor.name) : (actor.membership_id ?? actor.credential_id)}
            </bdi>
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
