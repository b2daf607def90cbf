import type { TestContext } from "vitest";
import { TestProject } from "./project.ts";
import { type Loses, Relay } from "./proxy.ts";
import { RunnerProcess } from "./runner-process.ts";
import { type Service, startService } from "./service.ts";

/** What a test has to itself, but for the service. */
export interface Prepared {
  place: TestProject;
  relay: Relay;
  /** Starts a runner, which does not outlive the test. */
  run(command: string, ...flags: string[]): RunnerProcess;
}

/** The service of a file of tests, and what each of them prepares on it. */
export class Stage {
  readonly service: Service;

  private constructor(service: Service) {
    this.service = service;
  }

  static async open(): Promise<Stage> {
    return new Stage(await startService());
  }

  close(): Promise<void> {
    return this.service.stop();
  }

  async prepare(context: TestContext, loses: Loses = () => false): Promise<Prepared> {
    const place = await TestProject.make(this.service);
    const relay = await Relay.start(this.service.url, loses);
    context.onTestFinished(() => relay.close());
    const run = (command: string, ...flags: string[]) => {
      const runner = new RunnerProcess(relay.url, place.token, command, flags);
      context.onTestFinished(() => runner.clear());
      return runner;
    };
    return { place, relay, run };
  }

  /** Has the schedule find that the runner of a deployment was not heard of for so long. */
  async lose(deploymentId: string, silentForMs: number): Promise<void> {
    const age = "update attempts set lost_at = lost_at - ?1 where deployment_id = ?2";
    await this.service.d1.prepare(age).bind(silentForMs, deploymentId).run();
    await this.service.sweep();
  }

  /** Has the schedule find that a run has taken longer than its pool allows. */
  async timeOut(deploymentId: string): Promise<void> {
    const age = "update attempts set run_until = started_at where deployment_id = ?";
    await this.service.d1.prepare(age).bind(deploymentId).run();
    await this.service.sweep();
  }

  /** Why a deployment failed, which only its runner and its events learn. */
  async failureReason(deploymentId: string): Promise<string | null> {
    const reason = "select failure_reason from deployments where id = ?";
    return this.service.d1.prepare(reason).bind(deploymentId).first("failure_reason");
  }
}
