import type { Kubectl } from "./kubectl.ts";
import { type Fields, findCondition, type KubernetesObject, toObjects } from "./objects.ts";

/** Why a container that has not started may still start. */
const STARTING = ["ContainerCreating", "PodInitializing"];
const LOG_LINES = 30;
const MAXIMUM_LOGS = 3;

export interface PodProblem {
  pod: string;
  text: string;
  /** Whether a container has run, and so may have printed something. */
  hasLog: boolean;
}

interface ContainerStatus {
  restartCount?: number;
  state?: {
    waiting?: { reason?: string; message?: string };
    terminated?: { exitCode: number; reason?: string };
  };
}

/** What keeps the pods of a workload from being ready. Without an answer, nothing. */
export async function findPodProblems(
  kubectl: Kubectl,
  workload: KubernetesObject,
): Promise<PodProblem[]> {
  const selector = toSelector(workload.spec?.["selector"]);
  if (selector === undefined) return [];
  const args = ["get", "pods", `--selector=${selector}`];
  const pods = await kubectl.readJson(args, { hidesErrors: true }).catch(() => undefined);
  return toObjects(pods).flatMap((pod) => findProblem(pod) ?? []);
}

/** Prints what the containers have said last. */
export async function printLogs(kubectl: Kubectl, problems: readonly PodProblem[]): Promise<void> {
  const printed = problems.filter(({ hasLog }) => hasLog).slice(0, MAXIMUM_LOGS);
  for (const { pod } of printed) {
    const args = ["logs", `pod/${pod}`, "--all-containers", "--prefix", `--tail=${LOG_LINES}`];
    await kubectl.run(args);
  }
}

function findProblem(pod: KubernetesObject): PodProblem | undefined {
  const { name, deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) return undefined;
  const containers = [
    ...readContainers(pod.status, "initContainerStatuses"),
    ...readContainers(pod.status, "containerStatuses"),
  ];
  const [text] = containers.flatMap((each) => describe(each) ?? []);
  const scheduled = findCondition(pod, "PodScheduled");
  const unscheduled =
    scheduled?.status === "False" ? (scheduled.message ?? "is not scheduled") : undefined;
  const problem = text ?? unscheduled;
  if (problem === undefined) return undefined;
  const hasLog = containers.some(
    ({ restartCount = 0, state }) => restartCount > 0 || state?.terminated,
  );
  return { pod: name, text: `pod ${name}: ${problem}`, hasLog };
}

function describe({ state }: ContainerStatus): string | undefined {
  const { waiting, terminated } = state ?? {};
  if (waiting?.reason !== undefined && !STARTING.includes(waiting.reason)) {
    return waiting.message ? `${waiting.reason} (${waiting.message})` : waiting.reason;
  }
  return terminated && terminated.exitCode !== 0 ? `exited with ${terminated.exitCode}` : undefined;
}

function readContainers(status: Fields | undefined, member: string): ContainerStatus[] {
  const list = status?.[member];
  return Array.isArray(list) ? list : [];
}

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

/** As `--selector` has it. */
function toSelector(selector: unknown): string | undefined {
  if (typeof selector !== "object" || selector === null) return undefined;
  const { matchLabels = {}, matchExpressions = [] } = selector as {
    matchLabels?: Record<string, string>;
    matchExpressions?: Requirement[];
  };
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const expressions = matchExpressions.map(toExpression);
  const all = [...labels, ...expressions];
  return all.length === 0 ? undefined : all.join(",");
}

function toExpression({ key, operator, values = [] }: Requirement): string {
  if (operator === "Exists") return key;
  if (operator === "DoesNotExist") return `!${key}`;
  return `${key} ${operator === "In" ? "in" : "notin"} (${values.join(",")})`;
}
