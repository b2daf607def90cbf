import type { TestContext } from "vitest";
import { type DropsReply, FaultyProxy } from "./faulty-proxy.ts";
import { TestProject } from "./project.ts";
import { RunnerProcess } from "./runner-process.ts";
import { type Service, useService } from "./service.ts";

/** The resources of one test; tests of a file share the service. */
export interface TestSetup {
  project: TestProject;
  proxy: FaultyProxy;
  /** Starts a runner that stops when the test finishes. */
  run(command: string, ...flags: string[]): RunnerProcess;
  /** Starts one with these names in its environment. */
  runWith(environment: NodeJS.Dict<string>, command: string, ...flags: string[]): RunnerProcess;
}

/** The service that the tests of one file share. */
export class RunnerFixture {
  readonly service: Service;

  private constructor(service: Service) {
    this.service = service;
  }

  static use(bindings: Record<string, string> = {}): RunnerFixture {
    return new RunnerFixture(useService(bindings));
  }

  async prepare(context: TestContext, dropsReply: DropsReply = () => false): Promise<TestSetup> {
    const project = await TestProject.make(this.service);
    const proxy = await FaultyProxy.start(this.service.url, dropsReply);
    context.onTestFinished(() => proxy.close());
    const runWith: TestSetup["runWith"] = (environment, command, ...flags) => {
      const { url } = proxy;
      const runner = new RunnerProcess({ url, token: project.token, command, flags, environment });
      context.onTestFinished(() => runner.stop());
      return runner;
    };
    return { project, proxy, runWith, run: (...command) => runWith({}, ...command) };
  }

  /** Runs the sweep as if the runner of a deployment had been silent for this long. */
  async expireLease(deploymentId: string, silentForMs: number): Promise<void> {
    const age = "update attempts set lost_at = lost_at - ?1 where deployment_id = ?2";
    await this.service.d1.prepare(age).bind(silentForMs, deploymentId).run();
    await this.service.sweep();
  }

  /** Runs the sweep as if the run had exceeded the time limit of its pool. */
  async timeOut(deploymentId: string): Promise<void> {
    const age = "update attempts set run_until = started_at where deployment_id = ?";
    await this.service.d1.prepare(age).bind(deploymentId).run();
    await this.service.sweep();
  }

  /** As it was printed. */
  async log(deploymentId: string): Promise<string> {
    const { url, owner } = this.service;
    const log = await fetch(new URL(`/v1/deployments/${deploymentId}/logs`, url), {
      headers: { "x-api-key": owner.key, accept: "text/plain" },
    });
    return log.text();
  }

  /** Read from the database, because no user route returns it. */
  async failureReason(deploymentId: string): Promise<string | null> {
    const reason = "select failure_reason from deployments where id = ?";
    return this.service.d1.prepare(reason).bind(deploymentId).first("failure_reason");
  }
}
