import { inOrder } from "../../../../cli/src/in-order.ts";
import type { Schemas } from "../../api.ts";
import { ChoiceFilter } from "../../components/filter.tsx";
import { LoadMore, Pending } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { formatCount, formatDay, formatDuration, formatNumber, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { queryOf } from "../../router.ts";
import type { ProjectTabProps } from "../tabs.ts";
import { DayChart } from "./day-chart.tsx";

type Day = Schemas["DayInsights"];

const DAY_MS = 86_400_000;
const MOST_ENVIRONMENTS = 240;
const PERIODS = ["30", "7", "90"] as const;

/** How often an environment is deployed, how that ends, and how long it takes. */
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
      <LoadMore list={list} />
      <Charts days={chosen.days} dates={datesOf(Number(days))} />
      {chosen.days.length > 0 && <Table days={chosen.days} />}
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

function Charts({ days, dates }: { days: readonly Day[]; dates: readonly string[] }) {
  const byDate = new Map(days.map((day) => [day.date, day]));
  const valuesOf = (read: (day: Day) => number | undefined) =>
    dates.map((date) => {
      const day = byDate.get(date);
      return day && read(day);
    });
  return (
    <div class="grid">
      <DayChart
        title="Deployments"
        dates={dates}
        values={valuesOf(totalOf)}
        format={formatNumber}
        summary={summarizeTotals(days)}
      />
      <DayChart
        title="Failed"
        dates={dates}
        values={valuesOf(({ failure_rate }) => failure_rate)}
        most={1}
        format={formatShare}
        summary={summarizeOutcomes(days)}
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
  );
}

function totalOf({ succeeded, failed, canceled, superseded }: Day): number {
  return succeeded + failed + canceled + superseded;
}

function summarizeTotals(days: readonly Day[]): string {
  const total = days.reduce((sum, day) => sum + totalOf(day), 0);
  const busiest = days.toSorted((a, b) => totalOf(b) - totalOf(a))[0];
  if (!busiest) return "None ended in this period.";
  const most = `most of them, ${formatNumber(totalOf(busiest))}, on ${formatDay(busiest.date)}`;
  return `${formatCount(total, "deployment")} ended on ${formatCount(days.length, "day")}, ${most}.`;
}

function summarizeOutcomes(days: readonly Day[]): string {
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  const judged = days.reduce((sum, day) => sum + day.succeeded, failed);
  if (judged === 0) return "None succeeded or failed in this period.";
  return `${formatNumber(failed)} of ${formatNumber(judged)} that succeeded or failed, ${formatShare(failed / judged)}.`;
}

function summarizeDurations(days: readonly Day[]): string {
  const runs = days.flatMap(({ run_seconds }) => run_seconds ?? []);
  if (runs.length === 0) return "None ran in this period.";
  const medians = runs.map(({ median }) => median);
  const [least, most] = [Math.min(...medians), Math.max(...medians)].map(formatSeconds);
  const longest = formatSeconds(Math.max(...runs.map(({ p95 }) => p95)));
  return `The median of a day is from ${least} to ${most}; 95 % of a day took at most ${longest}.`;
}

function formatShare(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function formatSeconds(seconds: number): string {
  return formatDuration(seconds * 1000);
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
