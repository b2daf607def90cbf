export const ALARM_STATES = ["alarm", "ok"] as const;
export type AlarmState = (typeof ALARM_STATES)[number];

export interface AlarmReport {
  name: string;
  state: AlarmState;
  reason: string | null;
}
