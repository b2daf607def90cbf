import type { ResourceChange } from "../../../runner/src/report-lines.ts";
import type { Report } from "../../program/src/index.ts";
import { type Container, readContainers } from "./containers.ts";
import type { Docker } from "./docker.ts";
import type { Project } from "./project.ts";
import { describeState, type Operation, toStatus } from "./statuses.ts";

const LABEL = "com.docker.compose";
const PHYSICAL_ID_LENGTH = 2_048;
/** What the engine keeps beside containers, and the names of its types. */
const KEPT = { network: "Network", volume: "Volume" } as const;

/** What a run is about to do, or has done. */
export interface Phase {
  isRollback?: boolean;
  /** `up` has ended with an error. */
  hasFailed?: boolean;
  /** Of the services, as they become. */
  hashes?: ReadonlyMap<string, string>;
}

/** The services of a project, with their networks and volumes, as resources of the stack. */
export class Resources {
  readonly #docker: Docker;
  readonly #project: string;
  readonly #report: Report;
  /** Services that had containers before this run. */
  readonly #existing: ReadonlySet<string>;

  constructor(docker: Docker, project: string, report: Report, before: readonly Container[]) {
    this.#docker = docker;
    this.#project = project;
    this.#report = report;
    this.#existing = new Set(before.map(({ service }) => service));
  }

  /** What changes while Compose works. */
  reportServices(
    services: readonly string[],
    containers: readonly Container[],
    phase: Phase,
  ): void {
    for (const service of services) {
      const current = containers.filter((each) => each.service === service);
      // The state of a container that Compose is about to replace says nothing about the deployment.
      const isOld = current.some(({ configHash }) => configHash !== phase.hashes?.get(service));
      this.#report.resource(this.#describe(service, isOld ? [] : current, phase));
    }
    const removed = new Set(containers.map(({ service }) => service));
    for (const service of services) removed.delete(service);
    for (const service of removed) {
      const status = "DELETE_IN_PROGRESS";
      this.#report.resource({ template_id: service, resource_type: "Service", status });
    }
  }

  /** All that the stack has, whether or not the files name it. Returns the containers. */
  async reportAll({ services }: Project, phase: Phase): Promise<Container[]> {
    const containers = await readContainers(this.#docker, this.#project);
    const present = containers.map(({ service }) => service);
    const names = new Set(phase.hasFailed ? [...services, ...present] : present);
    const kept = await Promise.all(
      (["network", "volume"] as const).map((kind) => this.#readKept(kind)),
    );
    this.#report.allResources([
      ...[...names].map((service) => {
        const current = containers.filter((each) => each.service === service);
        return this.#describe(service, current, phase);
      }),
      ...kept.flat(),
    ]);
    return containers;
  }

  #describe(service: string, containers: readonly Container[], phase: Phase): ResourceChange {
    const operation = this.#operationOn(service, phase);
    const names = containers.map(({ name }) => name).join(", ");
    const states = containers.map((each) => `${each.image}: ${describeState(each)}`).join("; ");
    return {
      template_id: service,
      resource_type: "Service",
      status: toStatus(operation, containers, phase.hasFailed === true),
      ...(names !== "" && { physical_id: names.slice(0, PHYSICAL_ID_LENGTH) }),
      ...(states !== "" && { status_reason: states }),
    };
  }

  #operationOn(service: string, { isRollback }: Phase): Operation {
    if (isRollback) return "UPDATE_ROLLBACK";
    return this.#existing.has(service) ? "UPDATE" : "CREATE";
  }

  async #readKept(kind: keyof typeof KEPT): Promise<ResourceChange[]> {
    const lines = await this.#docker.readLines(
      [
        ...[kind, "ls", `--filter=label=${LABEL}.project=${this.#project}`],
        `--format={{.Name}}\t{{.Label "${LABEL}.${kind}"}}`,
      ],
      "The engine does not answer. The log says why.",
    );
    return lines.map((line) => {
      const [name = "", label = ""] = line.split("\t");
      return {
        template_id: `${kind}.${label}`,
        resource_type: KEPT[kind],
        physical_id: name,
        status: "UPDATE_COMPLETE",
      };
    });
  }
}
