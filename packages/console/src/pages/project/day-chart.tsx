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

/** A bar for each day, with its value on hover. The chart's name says what it shows; a table has each value. */
export function DayChart(props: DayChartProps) {
  const { title, dates, values, upper = [], format, summary, tone = "" } = props;
  const highest = Math.max(0, ...[...values, ...upper].map((each) => each ?? 0));
  const { most = highest } = props;
  const heightOf = (value: number) => (most > 0 ? (value / most) * HEIGHT : 0);
  const [first = "", last = ""] = [dates[0], dates.at(-1)];
  const middle = dates[Math.floor(dates.length / 2)] ?? "";
  return (
    <figure class="chart">
      <figcaption>
        <h4>{title}</h4>
        <p class="soft small">{summary}</p>
      </figcaption>
      <div class="axis soft small" aria-hidden="true">
        <span>{format(most)}</span>
        <span>0</span>
      </div>
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
          const shown = [value, above].flatMap((each) => (each === undefined ? [] : format(each)));
          return (
            <g key={date} class={tone}>
              <title>{`${formatDay(date)}: ${shown.join(", p95 ") || "none"}`}</title>
              <rect class="day" x={at * DAY_WIDTH} y={0} width={DAY_WIDTH} height={HEIGHT} />
              {value !== undefined && (
                <rect
                  class="bar"
                  x={x}
                  y={HEIGHT - heightOf(value)}
                  width={width}
                  height={heightOf(value)}
                />
              )}
              {above !== undefined && (
                <rect class="upper" x={x} y={HEIGHT - heightOf(above)} width={width} height={1.5} />
              )}
            </g>
          );
        })}
      </svg>
      <div class="row between soft small days" aria-hidden="true">
        <span>{formatDay(first)}</span>
        <span>{formatDay(middle)}</span>
        <span>{formatDay(last)}</span>
      </div>
    </figure>
  );
}
