import { DAY_MS } from "./clock.ts";
/** How long some of the data is kept. */
export interface RetentionRule {
  /** The data, for docs/limits.md. */
  what: string;
  /** Without a setting of another number. */
  days: number;
  /** The setting of the number of days. */
  setting: string;
  /** A setting of fewer days counts as this. */
  minimumDays?: number;
}

export const MAXIMUM_DAYS = 36_500;

/** What the purge deletes by its age. docs/limits.md lists it. */
export const RETENTION = {
  deliveries: {
    what:
      "Finished deliveries with their attempts, since they were created; events, since their last " +
      "delivery was created; finished recoveries",
    days: 30,
    setting: "RETAIN_DELIVERIES_DAYS",
  },
  changelog: {
    what: "The changelog of a project, and how its deployments ended by day",
    days: 400,
    setting: "RETAIN_CHANGELOG_DAYS",
  },
  audit: { what: "The audit log", days: 400, setting: "RETAIN_AUDIT_DAYS", minimumDays: 90 },
} as const satisfies Record<string, RetentionRule>;

export type RetentionPeriod = keyof typeof RETENTION;
export type RetentionSetting = (typeof RETENTION)[RetentionPeriod]["setting"];
export type RetentionSettings = { readonly [Name in RetentionSetting]?: string | undefined };

export const RETENTION_PERIODS = Object.keys(RETENTION) as RetentionPeriod[];

/** Data that is kept for a reason other than its age, for docs/limits.md. */
export const KEPT = {
  "Invitations, expired keys of CI jobs, and unconfirmed Slack installations": "until they expire",
  "Pending deliveries": "until they succeed or fail",
  "Data of a deleted organization, project, environment, stack or integration":
    "until the purge, which starts within a minute; no request finds it",
  "`DELETE_COMPLETE` resources of a stack": "as long as the limits above say",
  "Everything else": "until it is deleted",
} as const;

/** In ms. Throws for a value that `retentionProblem` refuses. */
export function retentionMs(settings: RetentionSettings, period: RetentionPeriod): number {
  const { setting, days, minimumDays = 1 }: RetentionRule = RETENTION[period];
  const value = settings[setting as RetentionSetting];
  if (retentionProblem(value)) throw new Error(`${setting} is not a number of days`);
  return Math.max(minimumDays, Number(value ?? days)) * DAY_MS;
}

/** What is wrong with the value of a setting, and what to do. */
export function retentionProblem(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9][0-9]{0,4}$/.test(value) && Number(value) <= MAXIMUM_DAYS) return undefined;
  return `It is not a number of days from 1 to ${MAXIMUM_DAYS}, so nothing is deleted. Correct it.`;
}
