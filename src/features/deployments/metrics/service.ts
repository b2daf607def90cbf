import type { OpenContext } from "../../../context.ts";
import { databaseSize } from "../../../lib/database-size.ts";
import { equalInConstantTime } from "../../../lib/digest.ts";
import { NotFound, Unauthenticated } from "../../../lib/errors.ts";
import { type GaugesRow, selectGauges } from "./store.ts";

/** Prometheus may ask for several operators. */
export const CACHED_MS = 15_000;
const SECOND_MS = 1_000;

export const NO_METRICS = new NotFound("operation");
export const INVALID_TOKEN = new Unauthenticated(
  "Send the METRICS_TOKEN of this deployment as a bearer token.",
);

interface Gauge {
  name: string;
  help: string;
  /** By the value of the label `status`, or one without a label. */
  values(row: GaugesRow, now: number): Readonly<Record<string, number>>;
}

const GAUGES: readonly Gauge[] = [
  {
    name: "deliveries_pending",
    help: "Deliveries that are not sent yet, or are tried again.",
    values: ({ pending }) => ({ "": pending }),
  },
  {
    name: "delivery_overdue_seconds",
    help: "How long the oldest delivery that is due has waited.",
    values: ({ nextDue }, now) => ({ "": secondsSince(nextDue, now) }),
  },
  {
    name: "runners_online",
    help: "Runners that have asked for work lately, or have some.",
    values: ({ online }) => ({ "": online }),
  },
  {
    name: "deployments",
    help: "Deployments that have not ended, by status.",
    values: ({ queued, inProgress, canceling }) => ({
      queued,
      in_progress: inProgress,
      canceling,
    }),
  },
  {
    name: "database_bytes",
    help: "Size of the database.",
    values: () => ({ "": databaseSize() ?? 0 }),
  },
  {
    name: "sweep_lag_seconds",
    help: "How long the schedule has not ended what is over. More than 60: it does not run.",
    values: ({ nextEnd }, now) => ({ "": secondsSince(nextEnd, now) }),
  },
];

let cached: { at: number; text: string } | undefined;

/** The gauges in the text format of Prometheus, for whoever has the operator's token. */
export async function readMetrics(
  { db, clock, installation }: OpenContext,
  authorization: string | undefined,
): Promise<string> {
  const token = installation.metricsToken();
  if (!token) throw NO_METRICS;
  const given = /^Bearer (.+)$/.exec(authorization ?? "")?.[1] ?? "";
  if (!(await equalInConstantTime(given, token))) throw INVALID_TOKEN;
  const now = clock.now();
  if (cached && now >= cached.at && now < cached.at + CACHED_MS) return cached.text;
  const row = await selectGauges(db, now);
  cached = { at: now, text: GAUGES.map((gauge) => render(gauge, row, now)).join("") };
  return cached.text;
}

function render({ name, help, values }: Gauge, row: GaugesRow, now: number): string {
  const full = `longshore_${name}`;
  const lines = Object.entries(values(row, now)).map(
    ([status, value]) => `${full}${status && `{status="${status}"}`} ${value}\n`,
  );
  return `# HELP ${full} ${help}\n# TYPE ${full} gauge\n${lines.join("")}`;
}

function secondsSince(time: number | null, now: number): number {
  return time === null ? 0 : Math.max(0, now - time) / SECOND_MS;
}
