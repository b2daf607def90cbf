/**
 * Stands in for `kubectl`: checks the options that the executor `kubernetes` gives it, and keeps a cluster in the file
 * `cluster.json` beside it. The tag of an image says how its pods behave; while the folder has the file `hold`, none is
 * ready. Other files beside it make commands fail.
 */
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { parse, parseAllDocuments, stringify } from "yaml";
import { currentCall, exitWith, fail, pathOf, pause, print } from "./tool-call.ts";

type Fields = Record<string, unknown>;

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec?: Fields & { replicas?: number };
}

interface Stored {
  manifest: Manifest;
  /** Of the last change. */
  generation: number;
  changedAt: number;
  /** Its field manager. */
  manager: string;
}

interface Cluster {
  namespaces: string[];
  /** By names such as `deployment.apps/web`. */
  objects: Record<string, Stored>;
  /** The annotations of apply sets, by the names of their parents. */
  sets: Record<string, Record<string, string>>;
}

const PREFIX = "applyset.kubernetes.io";
const READY_MS = 1_500;
const CLUSTER_SCOPED = ["Namespace", "ClusterRole", "ClusterRoleBinding"];
const UNREACHABLE =
  "Unable to connect to the server: dial tcp 192.0.2.1:443: connect: connection refused";

export async function runKubectl(): Promise<void> {
  const { args } = currentCall();
  const fault = takeFault(args);
  appendFileSync(join(currentCall().folder, "kubectl.log"), `${JSON.stringify({ args })}\n`);
  if (fault === "lost") return fail(UNREACHABLE);
  if (fault === "killed before") return killParent();
  await run(args);
  if (fault === "killed after") killParent();
}

async function run(args: string[]): Promise<void> {
  const [command = "", ...rest] = args;
  if (command === "version") return printJson({ clientVersion: readVersion() });
  if (command === "config") return printJson(readConfig());
  if (command === "kustomize") return kustomize(pathOf(rest[0] ?? ""));
  if (command === "get" && rest[0]?.startsWith("http://")) return print(readPage());
  if (command === "delete") return deleteNamespace(rest);
  requireTarget(args);
  if (command === "get") return get(rest[0] ?? "", rest);
  if (command === "create") return createNamespace(rest);
  if (command === "diff") return diff(rest);
  if (command === "apply") return apply(rest);
  if (command === "annotate") return annotate(rest);
  if (command === "rollout") return rolloutStatus(rest);
  if (command === "logs") return print(`[${rest[0]}/web] Cannot reach the database.`);
  fail(`error: unknown command "${command}" for "kubectl"`);
}

function readVersion() {
  const minor = readText("version") ?? "32";
  return { major: "1", minor, gitVersion: `v1.${minor}.4` };
}

function readConfig(): Fields {
  const context = { cluster: "c", user: "u", namespace: "shop" };
  const others = ["staging", "other"].map((name) => ({
    name,
    context: { cluster: "c", user: "u" },
  }));
  return { "current-context": "test", contexts: [{ name: "test", context }, ...others] };
}

/** Every request names where it goes. */
function requireTarget(args: string[]): void {
  demand(readOption(args, "--namespace") !== "", "a namespace");
  demand(readOption(args, "--cache-dir") !== "", "a cache of its own");
  const option = readOption(args, "--kubeconfig");
  if (option === "") return;
  const file = pathOf(option);
  demand((statSync(file).mode & 0o777) === 0o600, "a private kubeconfig");
  writeFileSync(join(currentCall().folder, "kubeconfig.json"), readFileSync(file));
}

function kustomize(folder: string): void {
  demand(currentCall().env["GIT_ALLOW_PROTOCOL"] === "none", "no protocols of git");
  demand(
    /127\.0\.0\.1:9$/.test(currentCall().env["HTTPS_PROXY"] ?? ""),
    "a proxy without a network",
  );
  print(
    render(folder)
      .map((each) => stringify(each))
      .join("---\n"),
  );
}

/** Resources and images, as the tests have them. */
function render(folder: string): Manifest[] {
  const file = ["kustomization.yaml", "kustomization.yml", "Kustomization"]
    .map((name) => join(folder, name))
    .find(existsSync);
  if (file === undefined) return readDocuments(folder);
  const {
    resources = [],
    images = [],
    configMapGenerator = [],
    labels = [],
  } = parse(readFileSync(file, "utf8"));
  const given = JSON.stringify(resources.flatMap((each: string) => render(join(folder, each))));
  const maps: Manifest[] = configMapGenerator.map((each: Generator) => generate(folder, each));
  const named = configMapGenerator.reduce(
    (all: string, { name }: Generator, at: number) =>
      all.replaceAll(
        `"configMap":{"name":"${name}"}`,
        `"configMap":{"name":"${maps[at]?.metadata.name}"}`,
      ),
    given,
  );
  const pairs = Object.assign({}, ...labels.map((each: Fields) => each["pairs"]));
  return [...maps, ...setImages(named, images)].map((each) => addLabels(each, pairs));
}

function addLabels(manifest: Manifest, pairs: Record<string, string>): Manifest {
  const { metadata } = manifest;
  const labels = { ...metadata.labels, ...pairs };
  if (Object.keys(labels).length === 0) return manifest;
  return { ...manifest, metadata: { ...metadata, labels } };
}

interface Generator {
  name: string;
  files: string[];
}

/** With a hash of its files in its name. */
function generate(folder: string, { name, files }: Generator): Manifest & Fields {
  const data = Object.fromEntries(
    files.map((file) => [basename(file), readFileSync(join(folder, file), "utf8")]),
  );
  const metadata = { name: `${name}-${toId(JSON.stringify(data)).slice(0, 10)}` };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

function setImages(text: string, images: Record<string, string>[]): Manifest[] {
  return JSON.parse(
    images.reduce((all: string, { name, newName, newTag, digest }: Record<string, string>) => {
      const end = digest === undefined ? `:${newTag}` : `@${digest}`;
      return all.replaceAll(
        new RegExp(`"image":"${name}(:[^"]*)?"`, "g"),
        `"image":"${newName}${end}"`,
      );
    }, text),
  );
}

function readDocuments(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(file, "utf8"))
    .map((each) => each.toJS())
    .filter(Boolean);
}

function get(what: string, args: string[]): void {
  demand(args.includes("--output=json"), "JSON");
  const selector = readOption(args, "--selector");
  if (what.startsWith("configmap/longshore-")) {
    getParent(what.slice("configmap/".length));
    return;
  }
  if (what.startsWith("namespace/")) {
    const name = what.slice("namespace/".length);
    if (read().namespaces.includes(name)) printJson({ kind: "Namespace", metadata: { name } });
    return;
  }
  if (what === "pods") {
    printJson({ kind: "List", items: findPods(selector) });
    return;
  }
  const kinds = what.split(",");
  demand(selector.startsWith(`${PREFIX}/part-of=`), "the members of a set");
  const found = Object.values(read().objects).filter(({ manifest }) => {
    const isMember = manifest.metadata.labels?.[`${PREFIX}/part-of`] === selector.split("=")[1];
    return isMember && kinds.includes(kindOf(manifest));
  });
  printJson({ kind: "List", items: found.map(show) });
}

function getParent(name: string): void {
  const annotations = read().sets[name];
  if (!annotations) return;
  const metadata = { name, labels: { [`${PREFIX}/id`]: toId(name) }, annotations };
  printJson({ apiVersion: "v1", kind: "ConfigMap", metadata });
}

function createNamespace([kind = "", name = ""]: string[]): void {
  demand(kind === "namespace", "a namespace");
  change((cluster) => cluster.namespaces.push(name));
  print(`namespace/${name} created`);
}

function deleteNamespace([kind = "", name = ""]: string[]): void {
  demand(kind === "namespace", "a namespace");
  change((cluster) => Object.assign(cluster, { namespaces: [], objects: {}, sets: {} }));
  print(`namespace "${name}" deleted`);
}

function diff(args: string[]): void {
  const problems = findProblems(args);
  if (problems.length > 0) {
    fail(...problems);
    // 1 would mean that there are differences.
    exitWith(2);
    return;
  }
  const changed = findChanged(readManifests(args), read());
  for (const each of changed) print(`+++ ${nameOf(each)}\n${stringify(each).trim()}`);
  exitWith(changed.length > 0 ? 1 : 0);
}

function apply(args: string[]): void {
  demand(currentCall().env["KUBECTL_APPLYSET"] === "true", "apply sets");
  demand(args.includes("--prune"), "--prune");
  const set = readOption(args, "--applyset").replace(/^configmaps\//, "");
  demand(/^longshore-[a-z0-9]+$/.test(set), "an apply set");
  demand(readOption(args, "--field-manager") === set, "a field manager");
  const problems = findProblems(args);
  if (problems.length > 0) {
    fail(...problems);
    return;
  }
  const isDryRun = args.includes("--dry-run=server");
  const end = isDryRun ? " (server dry run)" : "";
  const manifests = readManifests(args);
  const names = manifests.map(nameOf);
  const refused = isDryRun ? undefined : readText("refused-by-apply");
  change((cluster) => {
    for (const manifest of manifests) {
      if (nameOf(manifest) === refused) continue;
      print(`${nameOf(manifest)} serverside-applied${end}`);
      if (!isDryRun) store(cluster, manifest, set);
    }
    if (refused !== undefined) return fail(`Error from server: the server refuses ${refused}`);
    const members = Object.values(cluster.objects).filter(
      ({ manifest }) => manifest.metadata.labels?.[`${PREFIX}/part-of`] === toId(set),
    );
    for (const { manifest } of members) {
      if (names.includes(nameOf(manifest))) continue;
      print(`${nameOf(manifest)} pruned${end}`);
      if (!isDryRun) delete cluster.objects[nameOf(manifest)];
    }
    return undefined;
  });
}

function store(cluster: Cluster, manifest: Manifest, set: string): void {
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
function findProblems(args: string[]): string[] {
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

function annotate([parent = "", ...args]: string[]): void {
  const name = parent.replace(/^configmap\//, "");
  demand(args.includes("--overwrite"), "--overwrite");
  change((cluster) => {
    const annotations = cluster.sets[name];
    if (!annotations) return fail(`Error from server (NotFound): configmaps "${name}" not found`);
    for (const each of args.filter((arg) => !arg.startsWith("--"))) {
      const [key = "", value = ""] = each.split("=");
      annotations[key] = value;
    }
    return undefined;
  });
  print(`${parent} annotated`);
}

async function rolloutStatus([status = "", name = "", ...args]: string[]): Promise<void> {
  demand(status === "status" && /^--timeout=\d+s$/.test(args[0] ?? ""), "a status with a timeout");
  print(`Waiting for ${name} to finish.`);
  const seconds = Number.parseInt(readOption(args, "--timeout"), 10);
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; await pause(200)) {
    const stored = read().objects[name];
    if (!stored) return fail(`Error from server (NotFound): ${name} not found`);
    const isOver = isReady(stored) || readText("is-rolled-out") !== undefined;
    if (isOver) return print(`${name} successfully rolled out`);
    if (JSON.stringify(statusOf(stored)).includes("ProgressDeadlineExceeded")) {
      return fail(`error: ${name} exceeded its progress deadline`);
    }
  }
  fail("error: timed out waiting for the condition");
}

/** As the cluster has it now. */
function show(stored: Stored): Fields {
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

function statusOf(stored: Stored): Fields {
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

function isReady({ manifest, changedAt }: Stored): boolean {
  const behavior = behaviorOf(manifest);
  if (behavior === "slow") return readText("is-fast") !== undefined;
  if (["missing", "crashes", "fails"].includes(behavior)) return false;
  return Date.now() > changedAt + READY_MS && readText("hold") === undefined;
}

/** The tag of the first image. */
function behaviorOf(manifest: Manifest): string {
  return /"image":"[^"@]*:([\w.-]+)"/.exec(JSON.stringify(manifest))?.[1] ?? "";
}

function findPods(selector: string): Fields[] {
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

/** What a request to the load balancer would get. */
function readPage(): string {
  const { data = {} } = (Object.values(read().objects).find(
    ({ manifest }) => manifest.kind === "ConfigMap",
  )?.manifest ?? {}) as { data?: Record<string, string> };
  return Object.values(data).join("").trim();
}

/** Whether applying it changes more than the label of its set, which kubectl adds. */
function isChanged(manifest: Manifest, cluster: Cluster): boolean {
  const before = cluster.objects[nameOf(manifest)]?.manifest;
  return !before || JSON.stringify(withoutSet(before)) !== JSON.stringify(withoutSet(manifest));
}

function withoutSet(manifest: Manifest): Manifest {
  const { [`${PREFIX}/part-of`]: _, ...labels } = manifest.metadata.labels ?? {};
  return { ...manifest, metadata: { ...manifest.metadata, labels } };
}

/** Those that an apply with these labels, and no others, would change. */
function findChanged(manifests: Manifest[], { objects }: Cluster): Manifest[] {
  return manifests.filter((each) => {
    const before = objects[nameOf(each)]?.manifest;
    return JSON.stringify(before) !== JSON.stringify(each);
  });
}

function readManifests(args: string[]): Manifest[] {
  const files = args
    .filter((each) => each.startsWith("--filename="))
    .map((each) => pathOf(each.slice(11)));
  demand(files.length > 0, "files");
  return files.flatMap(readDocuments);
}

function nameOf(manifest: Manifest): string {
  const [first = "", ...rest] = kindOf(manifest).split(".");
  return `${[first.toLowerCase(), ...rest].join(".")}/${manifest.metadata.name}`;
}

function kindOf({ apiVersion, kind }: Manifest): string {
  return apiVersion.includes("/") ? `${kind}.${dirname(apiVersion)}` : kind;
}

function toId(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function readText(name: string): string | undefined {
  const path = join(currentCall().folder, name);
  return existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
}

function read(): Cluster {
  return JSON.parse(readText("cluster.json") ?? '{"namespaces":["shop"],"objects":{},"sets":{}}');
}

function change(apply: (cluster: Cluster) => unknown): void {
  const cluster = read();
  apply(cluster);
  const written = join(currentCall().folder, `cluster.json.${currentCall().pid}`);
  writeFileSync(written, JSON.stringify(cluster));
  renameSync(written, join(currentCall().folder, "cluster.json"));
}

/** The file `fault` has what happens, to which command, and how often it goes well before. */
function takeFault(args: string[]): string | undefined {
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

/** The program that has started this one. */
function killParent(): void {
  process.kill(currentCall().parent, "SIGKILL");
}

function printJson(value: object): void {
  print(JSON.stringify(value, undefined, 2));
}

function readOption(args: readonly string[], name: string): string {
  return args.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
}

function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(`The stand-in of kubectl needs ${what}.`);
}
