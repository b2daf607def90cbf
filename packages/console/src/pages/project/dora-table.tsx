import type { Schemas } from "../../api.ts";
import { formatDuration, showHidden } from "../../format.ts";
import { queryOf } from "../../router.ts";
import { type Dora, measure } from "./dora.ts";

const DAY_MS = 86_400_000;

interface Column {
  title: string;
  read: (numbers: Dora) => number | undefined;
  format: (value: number) => string;
}

const COLUMNS: readonly Column[] = [
  {
    title: "Deployment frequency",
    read: ({ weeklySuccesses }) => weeklySuccesses || undefined,
    format: (value) => `${value.toFixed(1)} a week`,
  },
  { title: "Lead time", read: ({ leadSeconds }) => leadSeconds, format: formatSeconds },
  { title: "Change failure rate", read: ({ failureRate }) => failureRate, format: formatShare },
  {
    title: "Time to restore",
    read: ({ recoverySeconds }) => recoverySeconds,
    format: formatSeconds,
  },
];

export function formatShare(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function formatSeconds(seconds: number): string {
  return formatDuration(seconds * 1000);
}

interface DoraTableProps {
  environments: readonly Schemas["EnvironmentInsights"][];
  /** How many days, until today. */
  count: number;
}

/** The four numbers of each environment, and how the later half of the period differs from the earlier one. */
export function DoraTable({ environments, count }: DoraTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls with keys.
    <section class="scroll" aria-label="The four DORA numbers" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Environment</th>
            {COLUMNS.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {environments.map(({ id, name, days }) => (
            <tr key={id}>
              <th scope="row">
                <a
                  class="quiet"
                  href={`?${new URLSearchParams({ environment: id, days: queryOf("days") || String(count) })}`}
                >
                  {showHidden(name)}
                </a>
              </th>
              {COLUMNS.map((column) => (
                <Cell key={column.title} column={column} days={days} count={count} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface CellProps {
  column: Column;
  days: readonly Schemas["DayInsights"][];
  count: number;
}

function Cell({ column: { read, format }, days, count }: CellProps) {
  const value = read(measure(days, count));
  if (value === undefined) return <td class="soft">–</td>;
  const half = Math.ceil(count / 2);
  const middle = new Date(Date.now() - half * DAY_MS).toISOString().slice(0, 10);
  const [earlier, later] = [
    read(
      measure(
        days.filter(({ date }) => date <= middle),
        count - half,
      ),
    ),
    read(
      measure(
        days.filter(({ date }) => date > middle),
        half,
      ),
    ),
  ];
  return (
    <td>
      {format(value)}
      {earlier !== undefined && later !== undefined && format(earlier) !== format(later) && (
        <span class="soft small block nowrap">
          {later > earlier ? "↑" : "↓"} from {format(earlier)}
        </span>
      )}
    </td>
  );
}
