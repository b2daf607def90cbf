import { REPORT_LIMITS, type ResourceChange } from "../../../runner/src/report-lines.ts";
import type { Report } from "../../program/src/index.ts";

/** The statuses of the contract, by what is done and how far it is. */
const STATUSES = {
  create: { running: "CREATE_IN_PROGRESS", done: "CREATE_COMPLETE", failed: "CREATE_FAILED" },
  update: { running: "UPDATE_IN_PROGRESS", done: "UPDATE_COMPLETE", failed: "UPDATE_FAILED" },
} as const;

/** By what wrangler calls them; the others are routes. */
const TRIGGER_TYPES: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/^schedule: /, "CronTrigger"],
  [/^(Producer|Consumer) for /, "QueueBinding"],
  [/^workflow: /, "Workflow"],
  [/^event triggers: /, "EventTrigger"],
  [/ \(custom domain\b/, "CustomDomain"],
];

export interface DeployedWorker {
  name: string;
  versionId: string | undefined;
  /** Routes and other triggers. */
  targets: readonly string[];
}

/** What the stack has: the Worker, its version, and what leads to it. */
export class WorkerResources {
  readonly #report: Report;
  readonly #statuses: (typeof STATUSES)[keyof typeof STATUSES];

  /** @param outputs Of the last success of the stack. */
  constructor(report: Report, outputs: Readonly<Record<string, string>>) {
    this.#report = report;
    this.#statuses = STATUSES["version_id" in outputs ? "update" : "create"];
  }

  running(reason: string): void {
    this.#report.resource({
      template_id: "worker",
      resource_type: "Worker",
      status: this.#statuses.running,
      status_reason: reason,
    });
  }

  /** @param versionId That Cloudflare runs now, as far as it is known. */
  failed(reason: string, versionId: string | undefined): void {
    const status = this.#statuses.failed;
    this.#report.resource({
      template_id: "worker",
      resource_type: "Worker",
      status,
      status_reason: reason,
    });
    if (versionId !== undefined) this.#report.resource(this.#version(versionId));
  }

  deployed({ name, versionId, targets }: DeployedWorker): void {
    this.#report.allResources([
      { ...this.#resource("worker", "Worker"), physical_id: name },
      ...(versionId === undefined ? [] : [this.#version(versionId)]),
      ...targets.map((target) => ({
        ...this.#resource(target.slice(0, REPORT_LIMITS.resourceNameLength), typeOf(target)),
        physical_id: target,
      })),
    ]);
    this.#report.output("worker", name);
    if (versionId !== undefined) this.#report.output("version_id", versionId);
    const url = findUrl(targets);
    if (url !== undefined) this.#report.output("url", url);
  }

  #version(id: string): ResourceChange {
    return { ...this.#resource("version", "WorkerVersion"), physical_id: id };
  }

  #resource(templateId: string, type: string): ResourceChange {
    return { template_id: templateId, resource_type: type, status: this.#statuses.done };
  }
}

function typeOf(target: string): string {
  return TRIGGER_TYPES.find(([pattern]) => pattern.test(target))?.[1] ?? "Route";
}

/** Of a custom domain or a route of all paths, before the one of workers.dev. Undefined if a route has a `*` elsewhere. */
function findUrl(targets: readonly string[]): string | undefined {
  const routes = targets.filter((each) => ["Route", "CustomDomain"].includes(typeOf(each)));
  const urls = routes.flatMap((route) => {
    const [pattern = ""] = route.split(" ");
    const address = pattern.replace(/^https?:\/\//, "").replace(/\/\*$/, "/");
    return /^[\w.-]+\.[\w-]+(\/[^*]*)?$/.test(address) ? [`https://${address}`] : [];
  });
  return urls.find((url) => !/\.workers\.dev(\/|$)/.test(url)) ?? urls[0];
}
