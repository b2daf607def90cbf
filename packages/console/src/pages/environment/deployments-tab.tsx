import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import type { Schemas } from "../../api.ts";
import { ChoiceFilter, FilterGroup, TextFilter } from "../../components/filter.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { OutputUrls } from "../../components/output-url.tsx";
import { Status } from "../../components/status.tsx";
import { Time, Took } from "../../components/time.tsx";
import { formatCount, formatDuration, formatNumber, humanize, showHidden } from "../../format.ts";
import { type List, useList } from "../../query.ts";
import { queryOf, ROOT } from "../../router.ts";
import { rollbackButton, useRollback } from "../deployment/rollback.tsx";
import { describeSource } from "../deployment/source.tsx";
import type { EnvironmentTabProps } from "../tabs.ts";
import { CreateDeployment } from "./create-deployment.tsx";

const STATUSES: readonly Schemas["DeploymentStatus"][] = [
  "queued",
  "in_progress",
  "canceling",
  "succeeded",
  "failed",
  "canceled",
  "superseded",
];

type Deployment = Schemas["Deployment"];

/** How many are loaded at once while they are filtered here. */
const FILTERED_ITEMS = 100;

export function DeploymentsTab({ environment, can }: EnvironmentTabProps) {
  const { id } = environment;
  const [status, person, source] = ["status", "person", "source"].map(queryOf);
  const isFilteredHere = Boolean(person || source);
  const list = useList(
    "/v1/environments/{environment_id}/deployments",
    {
      path: { environment_id: id },
      query: { ...(status && { status }), ...(isFilteredHere && { limit: FILTERED_ITEMS }) },
    },
    isFilteredHere ? "on" : "live",
  );
  const fits = (each: Deployment) =>
    (!person || idOfCreator(each) === person) && (!source || hasSource(each, source));
  // A filter by status leaves out all successes or none.
  const liveId = list.items?.find((each) => each.status === "succeeded")?.id;
  const rollback = useRollback({
    environmentId: list.items && id,
    version: (list.items ?? []).map((each) => `${each.id} ${each.status}`).join(),
    can,
  });
  const mayDeploy = can("createDeployment");
  const isFiltered = Boolean(status) || isFilteredHere;
  const loaded = describeLoaded(list, isFilteredHere ? fits : undefined);
  return (
    <>
      {list.items && <EnvironmentUrls key={liveId} environmentId={id} />}
      <ItemList
        title="Deployments"
        list={list}
        buttons={[
          rollback !== undefined && { ...rollbackButton(rollback), inPalette: "Roll back" },
          mayDeploy && {
            verb: "Deploy",
            kind: "primary",
            inPalette: "Deploy",
            dialog: ({ onClose }) => (
              <CreateDeployment environment={environment} onClose={onClose} />
            ),
          },
        ]}
        filters={<Filters items={list.items ?? []} />}
        fits={isFilteredHere ? fits : undefined}
        row={(deployment) => (
          <DeploymentRow deployment={deployment} isLive={deployment.id === liveId} />
        )}
        empty={isFiltered ? "No deployment fits the filters." : "Nothing was deployed yet."}
        command={mayDeploy && !isFiltered && `${RUN_CLI} deploy -e ${id} --wait`}
      >
        {loaded && <p class="soft small">{loaded}</p>}
      </ItemList>
    </>
  );
}

/** What is true of those that are loaded alone. */
function describeLoaded(
  { items = [], hasMore }: List<Deployment>,
  fits: ((item: Deployment) => boolean) | undefined,
): string {
  const loaded = `${formatCount(items.length, "deployment")} that ${hasMore ? "so far " : ""}are loaded`;
  const count = fits && `${formatNumber(items.filter(fits).length)} of the ${loaded}.`;
  const runs = items.flatMap(({ status, run_seconds = -1 }) =>
    status === "succeeded" && run_seconds >= 0 ? [run_seconds] : [],
  );
  const median = runs.toSorted((a, b) => a - b)[Math.floor((runs.length - 1) / 2)];
  const duration =
    median !== undefined && `Median of the loaded successes: ${formatDuration(median * 1000)}.`;
  return [count, duration].filter(Boolean).join(" ");
}

function Filters({ items }: { items: readonly Deployment[] }) {
  const person = queryOf("person");
  const people = new Map(items.map((each) => [idOfCreator(each), each.created_by?.name]));
  // One that the URL names may be on no page that is loaded.
  if (person && !people.has(person)) people.set(person, undefined);
  const choices = [...people].flatMap(([id, name = id]) =>
    id === undefined ? [] : [[id, showHidden(name ?? id)] as const],
  );
  return (
    <FilterGroup>
      <ChoiceFilter
        name="status"
        label="Status"
        options={[["", "All"], ...STATUSES.map((each) => [each, humanize(each)] as const)]}
      />
      <ChoiceFilter name="person" label="Created by" options={[["", "All"], ...choices]} />
      <TextFilter name="source" label="Source" placeholder="Branch, commit or image" />
    </FilterGroup>
  );
}

/** A trust creates them by itself: its keys are not a person's. */
function idOfCreator({ created_by }: Deployment): string | undefined {
  return created_by?.trust_id ?? created_by?.membership_id;
}

/** The branch, the commit with its message, the repository, or the image. */
function hasSource({ data }: Deployment, text: string): boolean {
  const { git, registry } = data.source ?? {};
  const parts = git
    ? [git.ref, git.commit.sha, git.commit.message, `${git.owner}/${git.repo}`]
    : [registry?.image ?? ""];
  return parts.join("\n").toLowerCase().includes(text.toLowerCase());
}

/** Of one success: mount it again after the next. */
function EnvironmentUrls({ environmentId }: { environmentId: string }) {
  const path = { environment_id: environmentId };
  const { items } = useList("/v1/environments/{environment_id}/stacks", { path });
  return <OutputUrls stacks={items} />;
}

interface DeploymentRowProps {
  deployment: Deployment;
  /** Whether its environment runs it. */
  isLive?: boolean;
}

/** In columns that are the same for all rows. */
export function DeploymentRow({ deployment, isLive = false }: DeploymentRowProps) {
  const { id, status, data, created_at, finished_at, run_seconds, stack_ids } = deployment;
  const { created_by, reason, trigger, failure_reason, overridden } = deployment;
  const [title = reason] = data.source?.git?.commit.message.split("\n") ?? [];
  const marks = [
    title !== reason && reason,
    created_by?.name,
    trigger !== "api" && trigger,
    formatCount(stack_ids.length, "stack"),
    failure_reason && humanize(failure_reason).toLowerCase(),
    overridden && "rules overridden",
  ];
  return (
    <div class="columns">
      <span>
        <a href={`${ROOT}deployments/${id}`}>{describeSource(data.source)}</a>
        {isLive && (
          <>
            {" "}
            <Status of="live" />
          </>
        )}
        {title && (
          <>
            {" "}
            <bdi>{showHidden(title)}</bdi>
          </>
        )}
        <br />
        <span class="soft small">{showHidden(marks.filter(Boolean).join(" · "))}</span>
      </span>
      <Status of={status} />
      <Took seconds={run_seconds} />
      <Time at={finished_at ?? created_at} />
    </div>
  );
}
