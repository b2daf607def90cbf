import { type ProgramContext, ProgramError, parseDuration, wait } from "../../program/src/index.ts";
import { type Container, readContainers } from "./containers.ts";
import { type Docker, hostOf } from "./docker.ts";
import { selectNamed } from "./named-variables.ts";
import { reportOutputs } from "./outputs.ts";
import { describeChanges } from "./preview.ts";
import { type ComposeValues, Project } from "./project.ts";
import { ReleaseStore, toRelease } from "./release.ts";
import { type Phase, Resources } from "./resources.ts";
import { waitUntilSettled } from "./settled.ts";
import { describeState, endOf } from "./statuses.ts";

const POLL_EVERY_MS = 1_000;
const DEFAULT_TIMEOUT = "10m";
const LOG_LINES = 30;

/** Deploys a stack as a project of Compose. */
export class ComposeDeployment {
  readonly #context: ProgramContext<ComposeValues>;
  readonly #docker: Docker;
  readonly #name: string;
  readonly #releases: ReleaseStore;

  constructor(context: ProgramContext<ComposeValues>, docker: Docker, name: string) {
    this.#context = context;
    this.#docker = docker;
    this.#name = name;
    this.#releases = new ReleaseStore(docker, name, context.folder);
  }

  async run(): Promise<void> {
    const { settings, report, stop } = this.#context;
    const timeout = parseDuration("timeout", settings.timeout ?? DEFAULT_TIMEOUT);
    await this.#docker.requireCompose();
    const address = await this.#docker.readAddress();
    console.log(`Deploys the project ${this.#name} to ${address}.`);
    const project = await Project.resolve(this.#docker, this.#name, this.#context);
    const read = () => readContainers(this.#docker, this.#name);
    const waiting = (ms: number) => wait(ms, stop);
    await waitUntilSettled({ read, wait: waiting, stop, timeoutMs: timeout * 1_000 });
    const before = await read();
    const resources = new Resources(this.#docker, this.#name, report, before);
    await this.#requireRunning(project, resources);
    const hashes = await project.readHashes();
    console.log(describeChanges(project, hashes, before).join("\n"));
    await this.#prepareImages(project, resources);
    const isUp = await this.#up(project, resources, timeout, { hashes });
    if (!isUp) await this.#fail(project, resources, timeout);
    const containers = await resources.reportAll(project, {});
    reportOutputs(report, containers, {
      file: project.file,
      host: hostOf(address),
      url: settings.url,
    });
    await this.#keep(project, containers);
  }

  async #prepareImages(project: Project, resources: Resources): Promise<void> {
    const hasBuilds = Object.values(project.file.services).some(({ build }) => build !== undefined);
    const isPulled = await project.run("pull", "--ignore-buildable", "--quiet");
    const isReady = isPulled && (!hasBuilds || (await project.run("build")));
    if (isReady && !this.#context.stop.aborted) return;
    await this.#requireRunning(project, resources);
    const command = isPulled ? "build" : "pull";
    throw new ProgramError(
      `docker compose ${command} fails, so no container was changed. The log says why.`,
    );
  }

  /** Reports the services while Compose works. */
  async #up(
    project: Project,
    resources: Resources,
    timeout: number,
    phase: Phase,
  ): Promise<boolean> {
    const ended = new AbortController();
    const flags = [
      "--detach",
      "--wait",
      `--wait-timeout=${timeout}`,
      "--remove-orphans",
      "--no-build",
    ];
    const working = project.run("up", ...flags).finally(() => ended.abort());
    while (!ended.signal.aborted) {
      // What the engine does not answer now, it does the next time.
      const containers = await readContainers(this.#docker, this.#name, undefined, {
        hidesErrors: true,
      }).catch(() => undefined);
      if (containers && !ended.signal.aborted) {
        resources.reportServices(project.services, containers, phase);
      }
      await wait(POLL_EVERY_MS, ended.signal);
    }
    return working;
  }

  /** Reports what is there, and throws, if the runner has asked to stop. */
  async #requireRunning(project: Project, resources: Resources): Promise<void> {
    if (!this.#context.stop.aborted) return;
    await resources.reportAll(project, {});
    throw new ProgramError(
      "The deployment was stopped. Containers stay as they are; the next deployment goes on from there.",
    );
  }

  async #fail(project: Project, resources: Resources, timeout: number): Promise<never> {
    await this.#requireRunning(project, resources);
    const containers = await resources.reportAll(project, { hasFailed: true });
    const failed = containers.filter((each) => endOf(each) !== "COMPLETE");
    const services = [...new Set(failed.map(({ service }) => service))];
    if (services.length > 0) {
      await project.run("logs", "--no-color", `--tail=${LOG_LINES}`, "--", ...services);
    }
    const states = failed.map((each) => `${each.name}: ${describeState(each)}`).join("; ");
    const what = states === "" ? "" : ` (${states})`;
    const rest = this.#context.settings.rollback
      ? ` ${await this.#rollBack(resources, timeout)}`
      : "";
    throw new ProgramError(`docker compose up fails${what}. The log says why.${rest}`);
  }

  /** Returns how it has ended. */
  async #rollBack(resources: Resources, timeout: number): Promise<string> {
    const release = await this.#releases.load();
    if (!release) return "There is no earlier success to roll back to.";
    console.log(`Rolls back to what the deployment ${release.deployment} has deployed.`);
    const missing = await this.#releases.restoreImages(release);
    if (missing.length > 0) {
      return `The rollback fails: the engine no longer has the earlier image of ${missing.join(", ")}.`;
    }
    const docker = this.#docker.with(selectNamed(this.#context.variables, [release.file]));
    const project = Project.of(docker, this.#name, release.file, this.#context.folder);
    const hashes = await project.readHashes();
    const isUp = await this.#up(project, resources, timeout, { isRollback: true, hashes });
    await resources.reportAll(project, { isRollback: true, hasFailed: !isUp });
    return isUp
      ? `What the deployment ${release.deployment} has deployed runs again.`
      : "The rollback fails, too.";
  }

  /** What a later deployment rolls back to. */
  async #keep(project: Project, containers: readonly Container[]): Promise<void> {
    if (!this.#context.settings.rollback) return this.#releases.remove();
    const { id } = this.#context.input.deployment;
    const isKept = await this.#releases.save(toRelease(id, project.file, containers));
    if (!isKept) {
      console.log(
        "This success could not be kept on the engine. A later failure does not roll back to it.",
      );
    }
  }
}
