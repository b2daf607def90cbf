import { useEffect } from "preact/hooks";
import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { ReadErrorNote } from "../../components/error-note.tsx";
import { Empty, LoadMore, Pending } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { DateHeading } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { readAll, useReadOnce } from "../../query.ts";
import { queryOf } from "../../router.ts";
import { currentWho } from "../../session.ts";
import type { OrganizationTabProps, ProjectTabProps } from "../tabs.ts";
import { ActivityRow } from "./activity-row.tsx";
import { ChoiceChip, nameOptions, RemovableChip, SwitchChip } from "./chips.tsx";
import { ExportLog } from "./export-log.tsx";
import { type Activity, groupByDay, mergeFeeds } from "./merge.ts";
import { auditedActionsOf, fitsFilter, KINDS } from "./model.ts";
import { actorOf, targetsOf } from "./sentence.ts";
import { type FeedRequests, type Feeds, useActivity } from "./use-activity.ts";

/** How many projects' changelogs the page of an organization reads, each with a request of its own. */
const MOST_PROJECTS = 10;

export function ProjectActivityTab({ project }: ProjectTabProps) {
  const people = useReadOnce(async () => {
    const path = { project_id: project.id };
    const members = await readAll("/v1/projects/{project_id}/members", { path });
    return members.map(({ display_name }) => display_name);
  });
  return <ActivityList projects={[project]} people={people.data ?? []} isInProject />;
}

export function OrganizationActivityTab({ path }: OrganizationTabProps) {
  const { data: projects, error } = useReadOnce(() => readAll("/v1/projects"));
  const people = useReadOnce(async () => {
    if (!can("listMembers")) return [];
    const members = await readAll("/v1/orgs/{org_id}/members", { path });
    return members.map(({ display_name }) => display_name);
  });
  if (!projects) return <Pending error={error} />;
  return <ActivityList projects={projects} people={people.data ?? []} isInProject={false} />;
}

interface ActivityListProps {
  projects: readonly Schemas["Project"][];
  /** The names of people who may have acted. */
  people: readonly string[];
  isInProject: boolean;
}

function ActivityList({ projects, people, isInProject }: ActivityListProps) {
  const filter = readFilter(isInProject ? projects[0]?.id : undefined);
  const mayReadAudit = can("listAuditLog");
  const chosen = projects.filter(({ id }) => !filter.project || id === filter.project);
  const read = chosen.slice(0, MOST_PROJECTS);
  const requests = toRequests(filter, mayReadAudit, read);
  const { feeds, error, loadMore } = useActivity(requests, isInProject ? "on" : "off");
  const merge = (loaded: Feeds) => {
    const { activities, next } = mergeFeeds(loaded.audit, loaded.changelogs);
    return { shown: activities.filter((each) => fits(each, filter)), next };
  };
  const merged = feeds && merge(feeds);
  const count = merged?.shown.length ?? 0;
  const more = () =>
    loadMore((loaded) => {
      const { shown, next } = merge(loaded);
      return shown.length > count ? undefined : next;
    });
  const isEmptyPage = merged !== undefined && count === 0 && merged.next !== undefined;
  useEffect(() => {
    // The button says what failed, if this does.
    if (isEmptyPage) more().catch(() => undefined);
  }, [isEmptyPage, JSON.stringify(requests)]);
  const actors = [...people, ...(merged?.shown ?? []).map(actorOf), filter.person].filter(Boolean);
  const names = new Map(projects.map(({ id, name }) => [id, name]));
  return (
    <Section
      title="Activity"
      actions={can("exportAuditLog") && <ExportLog query={filter.exported} />}
    >
      <fieldset class="chips">
        <legend class="visually-hidden">Filters</legend>
        <ChoiceChip name="person" label="Person" options={nameOptions("Everybody", actors)} />
        {!isInProject && (
          <ChoiceChip
            name="project"
            label="Project"
            options={[
              ["", "All projects"],
              ...projects.map(({ id, name }) => [id, showHidden(name)] as const),
            ]}
          />
        )}
        <ChoiceChip name="kind" label="Kind" options={KINDS} />
        {mayReadAudit && <SwitchChip name="security" label="Security only" />}
        {filter.about && (
          <RemovableChip names={["about", "about_id"]} label={`Remove filter: ${filter.about}`}>
            <bdi>{showHidden(filter.about)}</bdi>
          </RemovableChip>
        )}
      </fieldset>
      {!mayReadAudit && <p class="soft">The audit log is for admins. You see the changelog.</p>}
      {chosen.length > read.length && (
        <p class="soft">
          Changes of the first {read.length} projects. Choose a project to see those of others.
        </p>
      )}
      {merged ? (
        <>
          <ReadErrorNote error={error} />
          {groupByDay(merged.shown).map((day) => (
            <section key={day.at} class="stack tight">
              <DateHeading at={day.at} />
              <ul class="list acts">
                {day.rows.map((row) => (
                  <li key={row.activity.id}>
                    <ActivityRow row={row} projects={isInProject ? undefined : names} />
                  </li>
                ))}
              </ul>
            </section>
          ))}
          {count === 0 && merged.next === undefined && (
            <Empty
              title={filter.isOn ? "Nothing fits the filters." : "Nothing has happened yet."}
            />
          )}
          <LoadMore list={{ hasMore: merged.next !== undefined, loadMore: more }} />
        </>
      ) : (
        <Pending error={error} lines={8} />
      )}
    </Section>
  );
}

/** What the URL selects. */
function readFilter(projectId: string | undefined) {
  const [person, kind, about, aboutId] = ["person", "kind", "about", "about_id"].map(queryOf) as [
    string,
    string,
    string,
    string,
  ];
  const isSecurityOnly = queryOf("security") !== "";
  const project = projectId ?? queryOf("project");
  const action = auditedActionsOf({ kind, isSecurityOnly });
  const exported = {
    ...(person && { actor_name: person }),
    ...(project && { project_id: project }),
    ...(action.length > 0 && { action }),
  };
  return {
    ...{ person, kind, about, aboutId, isSecurityOnly, project, exported },
    isOn: [person, kind, about].some(Boolean) || isSecurityOnly,
  };
}
type Filter = ReturnType<typeof readFilter>;

function toRequests(
  { about, aboutId, person, exported }: Filter,
  mayReadAudit: boolean,
  projects: readonly { id: string }[],
): FeedRequests {
  const { organization } = currentWho();
  const target = aboutId ? { target: aboutId } : about ? { target_name: about } : {};
  return {
    audit: mayReadAudit
      ? { path: { org_id: organization.id }, query: { ...exported, ...target } }
      : undefined,
    changelogs: projects.map(({ id }) => ({
      path: { project_id: id },
      query: { ...(person && { actor_name: person }), ...(about && { record_name: about }) },
    })),
  };
}

/** What the lists cannot be asked for. */
function fits(activity: Activity, { kind, isSecurityOnly, aboutId }: Filter): boolean {
  if (!fitsFilter(activity.action, { kind, isSecurityOnly })) return false;
  if (!aboutId) return true;
  return (
    targetsOf(activity)[0]?.id === aboutId ||
    activity.changes.some(({ record }) => record.id === aboutId)
  );
}
