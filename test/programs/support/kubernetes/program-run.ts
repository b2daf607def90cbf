import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ExecutorCheckout } from "../executor-run.ts";
import { installStandIn } from "../stand-in.ts";

/** What the stand-in does with one call: see `takeFault` there. */
export interface Fault {
  what: "lost" | "killed before" | "killed after";
  /** Only calls of this command count. */
  command?: string;
  /** How many go well before. */
  after: number;
}

/** The program of the executor in a checkout, with the stand-in of kubectl. */
export class KubernetesRun {
  readonly checkout: ExecutorCheckout;
  readonly #folder = mkdtempSync(join(tmpdir(), "longshore-kubectl-"));
  readonly #path: string;

  constructor(files: Readonly<Record<string, string>> = {}) {
    this.checkout = new ExecutorCheckout("kubernetes", files);
    this.#path = installStandIn("kubectl", this.#folder);
  }

  /** Deploys a folder of manifests. */
  start(settings: Readonly<Record<string, unknown>> = {}, id = "1Cg5bWz8mKq3TnRv6HxPdZ") {
    const path = join(this.checkout.folder, "k8s");
    const environment = { PATH: this.#path };
    return this.checkout.start({
      settings: { path, ...settings },
      deployment: { id },
      environment,
    });
  }

  run(settings: Readonly<Record<string, unknown>> = {}, id?: string) {
    return this.start(settings, id).result;
  }

  /** Replaces the manifests. */
  write(manifests: string): void {
    this.checkout.write("k8s/all.yaml", manifests);
  }

  /** Another cluster with the same objects. */
  copy(): KubernetesRun {
    const copy = new KubernetesRun();
    const name = "cluster.json";
    if (this.read(name)) copyFileSync(join(this.#folder, name), join(copy.#folder, name));
    return copy;
  }

  setFault(fault: Fault | undefined): void {
    const path = join(this.#folder, "fault");
    if (fault) writeFileSync(path, JSON.stringify(fault));
    else rmSync(path, { force: true });
  }

  setFile(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text);
  }

  removeFile(name: string): void {
    rmSync(join(this.#folder, name));
  }

  read(name: string): string {
    const path = join(this.#folder, name);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** The commands of kubectl until now. */
  get calls(): string[][] {
    return this.read("kubectl.log")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line).args);
  }

  /** The names of the objects that the cluster has. */
  get objects(): string[] {
    return Object.keys(this.#cluster.objects).toSorted();
  }

  /** The manifest of an object, as JSON. */
  manifestOf(name: string): string {
    return JSON.stringify(this.#cluster.objects[name] ?? null);
  }

  /** Somebody else changes the objects, and so owns their fields. */
  setManager(manager: string): void {
    const cluster = this.#cluster;
    for (const each of Object.values(cluster.objects)) each.manager = manager;
    this.setFile("cluster.json", JSON.stringify(cluster));
  }

  remove(): void {
    this.checkout.remove();
    rmSync(this.#folder, { recursive: true });
  }

  get #cluster(): { objects: Record<string, { manager: string }> } {
    return JSON.parse(this.read("cluster.json") || '{"objects":{}}');
  }
}
