import type { Schemas } from "../../api.ts";
import { JsonText } from "../../components/json-text.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { humanize, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import type { ProjectTabProps } from "./project-page.tsx";

export function ChangelogTab({ project }: ProjectTabProps) {
  const path = { project_id: project.id };
  const list = useList("/v1/projects/{project_id}/changelog", { path }, "on");
  return (
    <Section title="Changelog">
      <RecordList
        list={list}
        label="Changes"
        keyOf={({ id }) => id}
        render={(entry) => <ChangelogItem entry={entry} />}
        empty={<Empty title="Nothing has changed yet." />}
      />
    </Section>
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
              by <code>{actor.membership_id}</code>
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
