import { useId } from "preact/hooks";
import { can } from "../../access.ts";
import { Avatar } from "../../components/avatar.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { Facts } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Clock } from "../../components/time.tsx";
import { formatExact, humanize, showHidden } from "../../format.ts";
import { queryOf, ROOT, setQuery } from "../../router.ts";
import type { Activity, Row } from "./merge.ts";
import { actorOf, changedFieldsOf, nounOf, type Part, sentenceOf, targetsOf } from "./sentence.ts";

interface ActivityRowProps {
  row: Row;
  /** See `sentenceOf`. */
  projects: ReadonlyMap<string, string> | undefined;
}

/** One act, or equal ones. Its details are below it, and in the URL while they are open. */
export function ActivityRow({ row, projects }: ActivityRowProps) {
  const { activity } = row;
  const { record, changes, id } = activity;
  const panel = useId();
  const isOpen = queryOf("entry") === id;
  const at = record?.created_at ?? changes[0]?.created_at ?? "";
  return (
    <>
      <div class="act">
        <Clock at={at} />
        <Avatar name={actorOf(activity)} />
        <span class="said">
          {sentenceOf(row, projects).map((part, index) => (
            <Said key={index} part={part} />
          ))}
        </span>
        {record?.outcome === "refused" && <Status of="refused" />}
        <button
          type="button"
          class="disclose"
          aria-expanded={isOpen}
          aria-controls={panel}
          aria-label="Details"
          onClick={() => setQuery({ entry: isOpen ? "" : id })}
        />
      </div>
      <div id={panel}>{isOpen && <Panel activity={activity} at={at} />}</div>
    </>
  );
}

function Said({ part: { text, isName, path } }: { part: Part }) {
  const shown = isName ? showHidden(text) : text;
  if (path !== undefined && mayOpen(path)) return <a href={ROOT + path}>{shown}</a>;
  return isName ? <bdi>{shown}</bdi> : <span>{shown}</span>;
}

/** Pages of the organization are for those who may list what they show. */
function mayOpen(path: string): boolean {
  if (path.startsWith("organization/members/")) return can("listMembers");
  return !path.startsWith("runners/") || can("listRunnerPools");
}

function Panel({ activity, at }: { activity: Activity; at: string }) {
  const { record, changes } = activity;
  const change = changes[0];
  const source = record?.source ?? change?.source;
  const how = record && humanize(record.source.type);
  const key = source?.name === undefined ? how : [showHidden(source.name), how].filter(Boolean);
  const membership = record?.actor.membership_id ?? change?.actor?.membership_id;
  return (
    <div class="stack panel">
      <Facts
        facts={[
          ["Time", formatExact(at)],
          [
            "By",
            <Named key="by" name={actorOf(activity)} id={membership} what="ID of the member" />,
          ],
          (key || source?.id) && [
            "With",
            <Named
              key="with"
              name={Array.isArray(key) ? key.join(", ") : (key ?? "API key")}
              id={source?.id}
              what="ID of the credential"
            />,
          ],
          record?.client_address && ["Address", <code key="address">{record.client_address}</code>],
          record?.user_agent && ["Client", <bdi key="agent">{showHidden(record.user_agent)}</bdi>],
          ...targetsOf(activity).map(
            ({ type, id, name }) =>
              [
                humanize(nounOf(type)),
                <Named
                  key={id}
                  name={name ?? "No name"}
                  id={id}
                  what={`ID of the ${nounOf(type)}`}
                />,
              ] as const,
          ),
          record?.request_id && [
            "Request",
            <CopyButton key="request" text={record.request_id} what="Request ID" />,
          ],
        ]}
      />
      <Fields activity={activity} />
    </div>
  );
}

/** The ID is there to copy. */
function Named({ name, id, what }: { name: string; id: string | undefined; what: string }) {
  return (
    <span class="row">
      <bdi>{showHidden(name)}</bdi>
      {id !== undefined && <CopyButton text={id} what={what} />}
    </span>
  );
}

/** IDs and times of creation say nothing to a person. */
const HIDDEN = /(^|_)ids?$|_at$/;

function Fields({ activity }: { activity: Activity }) {
  const { before, after } = changedFieldsOf(activity);
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (name) => !HIDDEN.test(name),
  );
  if (names.length === 0) return null;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Field</th>
            {before && <th scope="col">Before</th>}
            {after && <th scope="col">After</th>}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{humanize(showHidden(name))}</th>
              {before && <Value value={before[name]} />}
              {after && <Value value={after[name]} />}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === undefined) return <td class="soft">none</td>;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return (
    <td>
      <pre>{text.split("\n").map(showHidden).join("\n")}</pre>
    </td>
  );
}
