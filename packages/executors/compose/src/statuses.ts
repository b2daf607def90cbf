import type { Container } from "./containers.ts";

type End = "IN_PROGRESS" | "COMPLETE" | "FAILED";
/** What a run does to a service. */
export type Operation = "CREATE" | "UPDATE" | "UPDATE_ROLLBACK";

/** What the state of a container is for its service, with its health or its exit code where it has one. */
export const ENDS: Readonly<Record<string, End>> = {
  created: "IN_PROGRESS",
  restarting: "IN_PROGRESS",
  removing: "IN_PROGRESS",
  running: "COMPLETE",
  "running, starting": "IN_PROGRESS",
  "running, healthy": "COMPLETE",
  "running, unhealthy": "FAILED",
  "exited, 0": "COMPLETE",
  exited: "FAILED",
  paused: "FAILED",
  dead: "FAILED",
};

export function endOf({ state, health, exitCode }: Container): End {
  const known = [`${state}, ${state === "exited" ? exitCode : health}`, state];
  return known.flatMap((each) => ENDS[each] ?? []).at(0) ?? "FAILED";
}

/** That of a service is the worst of its containers. */
export function endOfService(containers: readonly Container[]): End {
  const ends = containers.map(endOf);
  if (ends.includes("FAILED")) return "FAILED";
  return ends.length === 0 || ends.includes("IN_PROGRESS") ? "IN_PROGRESS" : "COMPLETE";
}

/** Such as `running, unhealthy` or `exited with 1`. */
export function describeState({ state, health, exitCode }: Container): string {
  if (state === "exited") return `exited with ${exitCode}`;
  return health === "" ? state : `${state}, ${health}`;
}

/** Such as `UPDATE_IN_PROGRESS`. After `up` has failed, what is not complete has failed. */
export function toStatus(
  operation: Operation,
  containers: readonly Container[],
  hasFailed: boolean,
): string {
  const end = endOfService(containers);
  return `${operation}_${hasFailed && end === "IN_PROGRESS" ? "FAILED" : end}`;
}
