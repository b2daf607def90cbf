import type { Schemas } from "../../api.ts";
import { SearchFilter } from "../../components/filter.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { JsonText } from "../../components/json-text.tsx";
import { Time } from "../../components/time.tsx";
import { humanize, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { queryOf } from "../../router.ts";
import type { ProjectTabProps } from "../tabs.ts";

export function ChangelogTab({ project }: ProjectTabProps) {
  const path = { project_id: project.id };
  const [actor_name, record_name] = [queryOf("actor"), queryOf("record")];
  const query = { ...(actor_name && { actor_name }), ...(record_name && { record_name }) };
  const list = useList("/v1/projects/{project_id}/changelog", { path, query }, "on");
  return (
    <ItemList
      title="Changelog"
      label="Changes"
      list={list}
      filters={
        <>
          <SearchFilter name="actor" label="Changed by" />
          <SearchFilter name="record" label="What was changed" />
        </>
      }
      row={(entry) => <ChangelogItem entry={entry} />}
      empty={actor_name || record_name ? "No change fits the filters." : "Nothing has changed yet."}
    />
  );
}

function ChangelogItem({ entry }: { entry: Schemas["ChangelogEntry"] }) {
  const { action, record, actor, before, after, created_at } = entry;
  const name = record.name === undefined ? record.id : showHidden(record.name);
  return (
    <div class="stack">
      <div class="list-item">
        <span>
          {humanize(record.type)} <strong>{name}</strong> {action.replaceAll("_", " ")}
          {actor && (
            <span class="soft small">
              {" "}
              by{" "}
              {actor.name ? (
                <bdi>{showHidden(actor.name)}</bdi>
              ) : (
                <code>{actor.membership_id}</code>
              )}
            </span>
          )}
        </span>
        <Time at={created_at} />
      </div>
      {(before || after) && (
        <details>
          <summary>Details</summary>
          <div class="grid">
            {before && <Version title="Before" value={before} />}
            {after && <Version title="After" value={after} />}
          </div>
        </details>
      )}
    </div>
  );
}

function Version({ title, value }: { title: string; value: object }) {
  return (
    <figure>
      <figcaption class="soft small">{title}</figcaption>
      <JsonText value={value} />
    </figure>
  );
}
