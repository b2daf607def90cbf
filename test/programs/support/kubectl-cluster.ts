import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { currentCall, pathOf } from "./tool-call.ts";

export type Fields = Record<string, unknown>;

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec?: Fields & { replicas?: number };
}

export interface Stored {
  manifest: Manifest;
  /** Of the last change. */
  generation: number;
  changedAt: number;
  /** Its field manager. */
  manager: string;
}

export interface Cluster {
  namespaces: string[];
  /** By names such as `deployment.apps/web`. */
  objects: Record<string, Stored>;
  /** The annotations of apply sets, by the names of their parents. */
  sets: Record<string, Record<string, string>>;
}

export const PREFIX = "applyset.kubernetes.io";
export const READY_MS = 1_500;
export const CLUSTER_SCOPED = ["Namespace", "ClusterRole", "ClusterRoleBinding"];

export function readDocuments(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(file, "utf8"))
    .map((each) => each.toJS())
    .filter(Boolean);
}

export function store(cluster: Cluster, manifest: Manifest, set: string): void {
  const name = nameOf(manifest);
  const kinds = `${PREFIX}/contains-group-kinds`;
  const annotations = cluster.sets[set] ?? {};
  const known = (annotations[kinds] ?? "").split(",").filter(Boolean);
  cluster.sets[set] = {
    ...annotations,
    [kinds]: [...new Set([...known, kindOf(manifest)])].toSorted().join(","),
  };
  const before = cluster.objects[name];
  const isSame = before !== undefined && !isChanged(manifest, cluster);
  const { metadata } = manifest;
  const labels = { ...metadata.labels, [`${PREFIX}/part-of`]: toId(set) };
  cluster.objects[name] = {
    manifest: { ...manifest, metadata: { ...metadata, labels } },
    generation: isSame ? before.generation : (before?.generation ?? 0) + 1,
    changedAt: isSame ? before.changedAt : Date.now(),
    manager: set,
  };
}

/** What the server refuses before it changes anything. */
export function findProblems(args: string[]): string[] {
  demand(args.includes("--server-side"), "--server-side");
  const namespace = readOption(args, "--namespace");
  const { namespaces, objects } = read();
  if (!namespaces.includes(namespace)) {
    return [`Error from server (NotFound): namespaces "${namespace}" not found`];
  }
  return readManifests(args).flatMap((each) => {
    const other = each.metadata.namespace ?? namespace;
    if (other !== namespace) {
      return `error: the namespace from the provided object "${other}" does not match the namespace "${namespace}".`;
    }
    const manager = objects[nameOf(each)]?.manager ?? readOption(args, "--field-manager");
    const isForeign = manager !== readOption(args, "--field-manager");
    if (!isForeign || args.includes("--force-conflicts")) return [];
    return `error: Apply failed with 1 conflict: conflict with "${manager}": .spec.replicas`;
  });
}

/** As the cluster has it now. */
export function show(stored: Stored): Fields {
  const { manifest, generation } = stored;
  const { metadata, spec } = manifest;
  const namespaced = CLUSTER_SCOPED.includes(manifest.kind) ? {} : { namespace: "shop" };
  return {
    ...manifest,
    metadata: { ...namespaced, ...metadata, generation, uid: toId(nameOf(manifest)) },
    spec,
    status: statusOf(stored),
  };
}

export function statusOf(stored: Stored): Fields {
  const { manifest, generation, changedAt } = stored;
  const ready = isReady(stored);
  const { replicas = 1, progressDeadlineSeconds: deadline } = (manifest.spec ?? {}) as Fields;
  if (manifest.kind === "Deployment") {
    const isLate = typeof deadline === "number" && Date.now() > changedAt + deadline * 1_000;
    const message = `ReplicaSet "${manifest.metadata.name}-1" has timed out progressing.`;
    const reason = "ProgressDeadlineExceeded";
    return {
      ...{ observedGeneration: generation, replicas, updatedReplicas: replicas },
      availableReplicas: ready ? replicas : 0,
      ...(isLate &&
        !ready && {
          conditions: [{ type: "Progressing", status: "False", reason, message }],
        }),
    };
  }
  if (manifest.kind === "Job") {
    const type = behaviorOf(manifest) === "fails" ? "Failed" : "Complete";
    const message = type === "Failed" ? "Job has reached the specified backoff limit" : "";
    return { conditions: ready || type === "Failed" ? [{ type, status: "True", message }] : [] };
  }
  const isBalanced = manifest.spec?.["type"] === "LoadBalancer";
  return isBalanced && ready ? { loadBalancer: { ingress: [{ ip: "192.0.2.7" }] } } : {};
}

export function isReady({ manifest, changedAt }: Stored): boolean {
  const behavior = behaviorOf(manifest);
  if (behavior === "slow") return readText("is-fast") !== undefined;
  if (["missing", "crashes", "fails"].includes(behavior)) return false;
  return Date.now() > changedAt + READY_MS && readText("hold") === undefined;
}

/** The tag of the first image. */
export function behaviorOf(manifest: Manifest): string {
  return /"image":"[^"@]*:([\w.-]+)"/.exec(JSON.stringify(manifest))?.[1] ?? "";
}

export function findPods(selector: string): Fields[] {
  const found = Object.values(read().objects).filter(({ manifest }) => {
    const { matchLabels = {} } = (manifest.spec?.["selector"] ?? {}) as Record<string, object>;
    const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
    return labels.length > 0 && labels.join(",") === selector;
  });
  return found.map(({ manifest }) => {
    const image = /"image":"([^"]*)"/.exec(JSON.stringify(manifest))?.[1] ?? "";
    const waiting: Record<string, object> = {
      missing: { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}"` },
      crashes: { reason: "CrashLoopBackOff" },
    };
    const behavior = behaviorOf(manifest);
    const state = { waiting: waiting[behavior] ?? { reason: "ContainerCreating" } };
    const restartCount = behavior === "crashes" ? 2 : 0;
    return {
      metadata: { name: `${manifest.metadata.name}-1` },
      status: { containerStatuses: [{ restartCount, state }] },
    };
  });
}

/** Whether applying it changes more than the label of its set, which kubectl adds. */
export function isChanged(manifest: Manifest, cluster: Cluster): boolean {
  const before = cluster.objects[nameOf(manifest)]?.manifest;
  return !before || JSON.stringify(withoutSet(before)) !== JSON.stringify(withoutSet(manifest));
}

export function withoutSet(manifest: Manifest): Manifest {
  const { [`${PREFIX}/part-of`]: _, ...labels } = manifest.metadata.labels ?? {};
  return { ...manifest, metadata: { ...manifest.metadata, labels } };
}

/** Those that an apply with these labels, and no others, would change. */
export function findChanged(manifests: Manifest[], { objects }: Cluster): Manifest[] {
  return manifests.filter((each) => {
    const before = objects[nameOf(each)]?.manifest;
    return JSON.stringify(before) !== JSON.stringify(each);
  });
}

export function readManifests(args: string[]): Manifest[] {
  const files = args
    .filter((each) => each.startsWith("--filename="))
    .map((each) => pathOf(each.slice(11)));
  demand(files.length > 0, "files");
  return files.flatMap(readDocuments);
}

export function nameOf(manifest: Manifest): string {
  const [first = "", ...rest] = kindOf(manifest).split(".");
  return `${[first.toLowerCase(), ...rest].join(".")}/${manifest.metadata.name}`;
}

export function kindOf({ apiVersion, kind }: Manifest): string {
  return apiVersion.includes("/") ? `${kind}.${dirname(apiVersion)}` : kind;
}

export function toId(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

export function readText(name: string): string | undefined {
  const path = join(currentCall().folder, name);
  return existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
}

export function read(): Cluster {
  return JSON.parse(readText("cluster.json") ?? '{"namespaces":["shop"],"objects":{},"sets":{}}');
}

export function change(apply: (cluster: Cluster) => unknown): void {
  const cluster = read();
  apply(cluster);
  const written = join(currentCall().folder, `cluster.json.${currentCall().pid}`);
  writeFileSync(written, JSON.stringify(cluster));
  renameSync(written, join(currentCall().folder, "cluster.json"));
}

/** The file `fault` has what happens, to which command, and how often it goes well before. */
export function takeFault(args: string[]): string | undefined {
  const text = readText("fault");
  if (text === undefined) return undefined;
  const { what, command, after }: { what: string; command?: string; after: number } =
    JSON.parse(text);
  if (command !== undefined && args[0] !== command) return undefined;
  writeFileSync(
    join(currentCall().folder, "fault"),
    JSON.stringify({ what, command, after: after - 1 }),
  );
  return after === 0 ? what : undefined;
}

export function readOption(args: readonly string[], name: string): string {
  return args.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
}

export function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(`The stand-in of kubectl needs ${what}.`);
}
