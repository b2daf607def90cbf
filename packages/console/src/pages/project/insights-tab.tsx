import { inOrder } from "../../../../cli/src/in-order.ts";
import type { Schemas } from "../../api.ts";
import { ChoiceFilter } from "../../components/filter.tsx";
import { LoadMore, Pending } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { formatCount, formatDay, formatNumber, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { queryOf } from "../../router.ts";
import type { ProjectTabProps } from "../tabs.ts";
import { DayChart } from "./day-chart.tsx";
import { sumOf, totalOf, typical } from "./dora.ts";
import { DoraTable, formatSeconds, formatShare } from "./dora-table.tsx";

type Day = Schemas["DayInsights"];

const DAY_MS = 86_400_000;
const MOST_ENVIRONMENTS = 240;
const PERIODS = ["30", "7", "90"] as const;
/** Fewer deployments show no shape. */
const LEAST_CHARTED = 5;

/** The four DORA numbers of all environments, and one environment's days as charts. */
export function InsightsTab({ project, can }: ProjectTabProps) {
  const isAllowed = can("listInsights");
  const days = PERIODS.find((each) => each === queryOf("days")) ?? PERIODS[0];
  const list = useList(isAllowed ? "/v1/projects/{project_id}/insights" : undefined, {
    path: { project_id: project.id },
    query: { days, limit: MOST_ENVIRONMENTS },
  });
  if (!isAllowed) return <p>Your role or your scopes do not allow this page.</p>;
  if (!list.items) return <Pending error={list.error} />;
  const environments = inOrder(list.items);
  const chosen = environments.find(({ id }) => id === queryOf("environment")) ?? environments[0];
  if (!chosen) return <p>There are no environments.</p>;
  return (
    <Section title="Insights">
      <div class="filters">
        <ChoiceFilter
          name="environment"
          label={list.hasMore ? "Environment (there are more)" : "Environment"}
          options={environments.map(({ id, name }) => [id, showHidden(name)] as const)}
        />
        <ChoiceFilter
          name="days"
          label="Period"
          options={PERIODS.map((each) => [each, `${each} days`] as const)}
        />
      </div>
      <DoraTable environments={environments} count={Number(days)} />
      <LoadMore list={list} />
      <Charts environment={chosen} dates={datesOf(Number(days))} />
    </Section>
  );
}

/** The days (UTC) until today, the earliest first. */
function datesOf(count: number): string[] {
  const today = Date.now();
  return Array.from({ length: count }, (_, at) =>
    new Date(today - (count - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
}

interface ChartsProps {
  environment: Schemas["EnvironmentInsights"];
  dates: readonly string[];
}

function Charts({ environment: { name, days }, dates }: ChartsProps) {
  const byDate = new Map(days.map((day) => [day.date, day]));
  const valuesOf = (read: (day: Day) => number | undefined) =>
    dates.map((date) => {
      const day = byDate.get(date);
      return day && read(day);
    });
  const total = sumOf(days, totalOf);
  if (total < LEAST_CHARTED) {
    const summary = total === 0 ? "has had no deployment" : `has had ${formatNumber(total)}`;
    return (
      <p class="soft">
        Charts need {LEAST_CHARTED} deployments: <bdi>{showHidden(name)}</bdi> {summary} in the last{" "}
        {formatCount(dates.length, "day")}.
      </p>
    );
  }
  return (
    <>
      <h3>{showHidden(name)}</h3>
      <div class="grid">
        <DayChart
          title="Deployments"
          dates={dates}
          values={valuesOf(totalOf)}
          format={formatNumber}
          summary={summarizeTotals(days, dates.length)}
        />
        <DayChart
          title="Failed"
          dates={dates}
          values={valuesOf(({ failure_rate }) => failure_rate)}
          most={1}
          format={formatShare}
          summary={summarizeFailures(days)}
          tone="bad"
        />
        <DayChart
          title="Duration"
          dates={dates}
          values={valuesOf(({ run_seconds }) => run_seconds?.median)}
          upper={valuesOf(({ run_seconds }) => run_seconds?.p95)}
          format={formatSeconds}
          summary={summarizeDurations(days)}
        />
      </div>
      <Table days={days} />
    </>
  );
}

/** Such as "13 deployments in the last 30 days". */
function summarizeTotals(days: readonly Day[], count: number): string {
  return `${formatCount(sumOf(days, totalOf), "deployment")} in the last ${formatCount(count, "day")}`;
}

function summarizeFailures(days: readonly Day[]): string {
  const failed = sumOf(days, (day) => day.failed);
  const judged = failed + sumOf(days, (day) => day.succeeded);
  return `${formatNumber(failed)} of ${formatNumber(judged)} failed`;
}

function summarizeDurations(days: readonly Day[]): string {
  const median = typical(days, (day) => day.run_seconds?.median);
  const p95 = Math.max(...days.map(({ run_seconds }) => run_seconds?.p95 ?? 0));
  if (median === undefined) return "None started";
  return `Median ${formatSeconds(median)}, p95 up to ${formatSeconds(p95)}`;
}

const HEADINGS = [
  "Day (UTC)",
  "Succeeded",
  "Failed",
  "Canceled",
  "Superseded",
  "Failure rate",
  "Median",
  "95 %",
  "Recovery",
] as const;

/** What the charts show, and more. */
function Table({ days }: { days: readonly Day[] }) {
  return (
    <details>
      <summary>All values</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls with keys. */}
      <section class="scroll" aria-label="All values" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {HEADINGS.map((each) => (
                <th key={each} scope="col">
                  {each}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map((day) => (
              <DayRow key={day.date} day={day} />
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}

function DayRow({ day }: { day: Day }) {
  const { date, run_seconds, failure_rate, recovery_seconds } = day;
  const cells = [
    ...[day.succeeded, day.failed, day.canceled, day.superseded].map(formatNumber),
    failure_rate === undefined ? "" : formatShare(failure_rate),
    ...[run_seconds?.median, run_seconds?.p95, recovery_seconds].map((each) =>
      each === undefined ? "" : formatSeconds(each),
    ),
  ];
  return (
    <tr>
      <th scope="row" class="nowrap">
        {formatDay(date)}
      </th>
      {cells.map((each, at) => (
        <td key={at} class="nowrap">
          {each}
        </td>
      ))}
    </tr>
  );
}
