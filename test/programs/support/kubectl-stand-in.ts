/**
 * Stands in for `kubectl`: checks the options that the executor `kubernetes` gives it, and keeps a cluster in the file
 * `cluster.json` beside it. The tag of an image says how its pods behave; while the folder has the file `hold`, none is
 * ready. Other files beside it make commands fail.
 */
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import {
  change,
  demand,
  type Fields,
  findChanged,
  findPods,
  findProblems,
  isReady,
  kindOf,
  nameOf,
  PREFIX,
  read,
  readManifests,
  readOption,
  readText,
  show,
  statusOf,
  store,
  takeFault,
  toId,
} from "./kubectl-cluster.ts";
import { kustomize } from "./kubectl-kustomize.ts";
import { currentCall, exitWith, fail, pathOf, pause, print } from "./tool-call.ts";

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

/** What a request to the load balancer would get. */
function readPage(): string {
  const { data = {} } = (Object.values(read().objects).find(
    ({ manifest }) => manifest.kind === "ConfigMap",
  )?.manifest ?? {}) as { data?: Record<string, string> };
  return Object.values(data).join("").trim();
}

/** The program that has started this one. */
function killParent(): void {
  process.kill(currentCall().parent, "SIGKILL");
}

function printJson(value: object): void {
  print(JSON.stringify(value, undefined, 2));
}
