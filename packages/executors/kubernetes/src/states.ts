import { type Fields, findCondition, type KubernetesObject, kindOf, numberOf } from "./objects.ts";

export type End = "IN_PROGRESS" | "COMPLETE" | "FAILED";

/** How far an object is, in the words of the cluster. */
export interface State {
  end: End;
  text: string;
}

/** docs/deploy-with/kubernetes.md has the same table. Others depend on their conditions. */
const READERS: Readonly<Record<string, (object: KubernetesObject) => State>> = {
  "Deployment.apps": readDeployment,
  "StatefulSet.apps": readStatefulSet,
  "DaemonSet.apps": readDaemonSet,
  "Job.batch": readJob,
  Pod: readPod,
  Service: readService,
  PersistentVolumeClaim: ({ status }) =>
    status?.["phase"] === "Lost" ? failed("has lost its volume") : complete("exists"),
  "CustomResourceDefinition.apiextensions.k8s.io": readDefinition,
};

/** Those whose rollout kubectl follows. */
const ROLLED_OUT = ["Deployment.apps", "StatefulSet.apps", "DaemonSet.apps"];

export function readState(object: KubernetesObject): State {
  const { metadata, status } = object;
  if (metadata.deletionTimestamp !== undefined) return inProgress("is being deleted");
  const generation = metadata.generation ?? 0;
  const isSeen = numberOf(status, "observedGeneration", generation) >= generation;
  if (!isSeen) return inProgress("waits for its controller");
  return (READERS[kindOf(object)] ?? readConditions)(object);
}

export function isRolledOut(object: KubernetesObject): boolean {
  return ROLLED_OUT.includes(kindOf(object)) && !isPaused(object.spec);
}

/** Somebody else decides when its pods are replaced. */
function isPaused(spec: Fields | undefined): boolean {
  const { type } = (spec?.["updateStrategy"] ?? {}) as { type?: string };
  return spec?.["paused"] === true || type === "OnDelete";
}

function readDeployment(object: KubernetesObject): State {
  const { spec, status } = object;
  if (isPaused(spec)) return complete("is paused");
  const progressing = findCondition(object, "Progressing");
  if (progressing?.reason === "ProgressDeadlineExceeded") {
    return failed(progressing.message ?? progressing.reason);
  }
  const replicas = numberOf(spec, "replicas", 1);
  const updated = numberOf(status, "updatedReplicas");
  const failure = findCondition(object, "ReplicaFailure");
  if (failure?.status === "True") return inProgress(failure.message ?? "has no pods");
  return readCounts({
    replicas,
    updated,
    available: numberOf(status, "availableReplicas"),
    old: numberOf(status, "replicas") - updated,
    isUnseen: status?.["observedGeneration"] === undefined,
  });
}

function readStatefulSet({ spec, status }: KubernetesObject): State {
  if (isPaused(spec)) return complete("is replaced when its pods are deleted");
  const replicas = numberOf(spec, "replicas", 1);
  const { rollingUpdate } = (spec?.["updateStrategy"] ?? {}) as { rollingUpdate?: Fields };
  const partition = Math.min(numberOf(rollingUpdate, "partition"), replicas);
  const isUpdated = status?.["currentRevision"] === status?.["updateRevision"];
  return readCounts({
    replicas,
    updated: isUpdated ? replicas : numberOf(status, "updatedReplicas") + partition,
    available: numberOf(status, "readyReplicas"),
    old: 0,
    isUnseen: status?.["observedGeneration"] === undefined,
  });
}

function readDaemonSet({ spec, status }: KubernetesObject): State {
  if (isPaused(spec)) return complete("is replaced when its pods are deleted");
  return readCounts({
    replicas: numberOf(status, "desiredNumberScheduled"),
    updated: numberOf(status, "updatedNumberScheduled"),
    available: numberOf(status, "numberAvailable"),
    old: 0,
    isUnseen: status?.["observedGeneration"] === undefined,
  });
}

interface Counts {
  replicas: number;
  updated: number;
  available: number;
  /** Pods of an earlier version. */
  old: number;
  /** Its controller has not seen it at all. */
  isUnseen: boolean;
}

/** In the order in which `kubectl rollout status` looks at them. */
function readCounts({ replicas, updated, available, old, isUnseen }: Counts): State {
  if (isUnseen) return inProgress("waits for its controller");
  if (updated < replicas) return inProgress(`${updated} of ${replicas} pods are updated`);
  if (old > 0) return inProgress(`old pods that have not ended: ${old}`);
  const text = `${available} of ${replicas} pods are available`;
  return available < replicas ? inProgress(text) : complete(text);
}

function readJob(object: KubernetesObject): State {
  const ended = findCondition(object, "Failed");
  if (ended?.status === "True") return failed(ended.message ?? "has failed");
  if (findCondition(object, "Complete")?.status === "True") return complete("has completed");
  return object.spec?.["suspend"] === true ? complete("is suspended") : inProgress("runs");
}

function readPod(object: KubernetesObject): State {
  const phase = String(object.status?.["phase"]);
  if (phase === "Succeeded") return complete("has succeeded");
  if (phase === "Failed") return failed("has failed");
  return findCondition(object, "Ready")?.status === "True"
    ? complete("is ready")
    : inProgress("is not ready");
}

function readService({ spec, status }: KubernetesObject): State {
  if (spec?.["type"] !== "LoadBalancer") return complete("exists");
  const { ingress = [] } = (status?.["loadBalancer"] ?? {}) as { ingress?: unknown[] };
  return ingress.length > 0
    ? complete("has its load balancer")
    : inProgress("waits for its load balancer");
}

function readDefinition(object: KubernetesObject): State {
  const names = findCondition(object, "NamesAccepted");
  if (names?.status === "False") return failed(names.message ?? "has names that are in use");
  return findCondition(object, "Established")?.status === "True"
    ? complete("is established")
    : inProgress("is not established");
}

/** By the conventions of controllers: `Stalled` has failed, and `Ready` is ready. Without them, to exist is enough. */
function readConditions(object: KubernetesObject): State {
  const stalled = findCondition(object, "Stalled");
  if (stalled?.status === "True") return failed(stalled.message ?? "makes no progress");
  const ready = findCondition(object, "Ready");
  if (!ready || ready.status === "True") return complete(ready ? "is ready" : "exists");
  return inProgress(ready.message || "is not ready");
}

function complete(text: string): State {
  return { end: "COMPLETE", text };
}

function inProgress(text: string): State {
  return { end: "IN_PROGRESS", text };
}

function failed(text: string): State {
  return { end: "FAILED", text };
}
