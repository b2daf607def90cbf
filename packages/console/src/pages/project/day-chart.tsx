import { formatDay } from "../../format.ts";

/** Of each day; undefined: there is none. */
type Values = readonly (number | undefined)[];

interface DayChartProps {
  title: string;
  /** Such as `2026-11-27`, the earliest first. */
  dates: readonly string[];
  values: Values;
  /** Shown as a mark above the bar. */
  upper?: Values;
  /** The value of the whole height. Absent: the highest one. */
  most?: number;
  format: (value: number) => string;
  /** What the picture shows, in words. */
  summary: string;
  tone?: "bad";
}

const HEIGHT = 60;
const DAY_WIDTH = 10;
const GAP = 2;

/** A bar for each day. Its name says what it shows; the table of the page has each value. */
export function DayChart(props: DayChartProps) {
  const { title, dates, values, upper = [], format, summary, tone = "" } = props;
  const highest = Math.max(0, ...[...values, ...upper].map((each) => each ?? 0));
  const { most = highest } = props;
  const heightOf = (value: number) => (most > 0 ? (value / most) * HEIGHT : 0);
  const [first = "", last = ""] = [dates[0], dates.at(-1)];
  return (
    <figure class="chart">
      <figcaption class="row between">
        <h3>{title}</h3>
        {highest > 0 && <span class="soft small">up to {format(most)}</span>}
      </figcaption>
      <svg
        viewBox={`0 0 ${dates.length * DAY_WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${summary}`}
      >
        {dates.map((date, at) => {
          const [value, above] = [values[at], upper[at]];
          const x = at * DAY_WIDTH + GAP / 2;
          const width = DAY_WIDTH - GAP;
          return (
            <g key={date} class={tone}>
              {value !== undefined && (
                <rect x={x} y={HEIGHT - heightOf(value)} width={width} height={heightOf(value)} />
              )}
              {above !== undefined && (
                <rect class="upper" x={x} y={HEIGHT - heightOf(above)} width={width} height={1.5} />
              )}
            </g>
          );
        })}
      </svg>
      <div class="row between soft small">
        <span>{formatDay(first)}</span>
        <span>{formatDay(last)}</span>
      </div>
      <p class="small">{summary}</p>
    </figure>
  );
}
