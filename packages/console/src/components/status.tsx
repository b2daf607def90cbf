import { humanize } from "../format.ts";

const TONES: Readonly<Record<string, string>> = {
  succeeded: "good",
  done: "good",
  live: "good",
  connected: "good",
  ok: "good",
  active: "good",
  idle: "good",
  busy: "busy",
  running: "busy",
  finished: "good",
  failed: "bad",
  alarm: "bad",
  revoked: "bad",
  offline: "bad",
  refused: "bad",
  rejected: "bad",
  approved: "good",
  disabled: "bad",
  in_progress: "busy",
  canceling: "busy",
  offered: "busy",
  disconnecting: "busy",
  queued: "attention",
  pending: "attention",
  paused: "attention",
  failing: "attention",
  unconfirmed: "attention",
};

/** The class of its color. */
export function toneOf(status: string): string {
  const known = TONES[status];
  if (known) return known;
  if (status.endsWith("_FAILED")) return "bad";
  if (status.endsWith("_IN_PROGRESS")) return "busy";
  return status.endsWith("_COMPLETE") ? "good" : "";
}

export function Status({ of: status }: { of: string }) {
  return <span class={`status ${toneOf(status)}`}>{humanize(status)}</span>;
}
