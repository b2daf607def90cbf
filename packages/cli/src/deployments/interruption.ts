import { confirm } from "@clack/prompts";
import { ApiError, LongshoreError } from "../../../client/src/index.ts";
import { CliError, ExitCode, explain } from "../errors.ts";
import { isInteractive } from "../prompts.ts";
import type { CliContext, Session } from "../session.ts";
import type { DeploymentDisplay } from "./display.ts";

/**
 * What Ctrl-C does while a deployment is followed. On a terminal it asks whether to cancel the deployment;
 * a second one, and one without a terminal, leaves.
 */
export class Interruption {
  readonly #context: CliContext;
  readonly #session: Session;
  readonly #deploymentId: string;
  readonly #display: DeploymentDisplay;
  /** The user leaves. */
  readonly #left = new AbortController();
  /** The deployment has ended: there is nothing to ask. */
  readonly #ended = new AbortController();
  #answered: Promise<void> | undefined;

  constructor(
    context: CliContext,
    session: Session,
    deploymentId: string,
    display: DeploymentDisplay,
  ) {
    this.#context = context;
    this.#session = session;
    this.#deploymentId = deploymentId;
    this.#display = display;
    this.#context.signals.on("SIGINT", this.#onInterrupt);
  }

  /** Aborts with a `CliError` when the user leaves. */
  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** Ctrl-C does from now on what it does by default. */
  async end(): Promise<void> {
    this.#context.signals.off("SIGINT", this.#onInterrupt);
    this.#ended.abort();
    await this.#answered;
  }

  readonly #onInterrupt = (): void => {
    if (this.#answered || !isInteractive(this.#context)) this.#leave();
    else this.#answered = this.#ask();
  };

  async #ask(): Promise<void> {
    const { stdin, output } = this.#context;
    this.#display.pause();
    const answer = await confirm({
      message: `Cancel the deployment ${this.#deploymentId}?`,
      active: "Yes, cancel it",
      inactive: "No, leave while it continues",
      initialValue: false,
      input: stdin,
      output: output.stderr,
      signal: this.#ended.signal,
    });
    if (this.#ended.signal.aborted) return;
    if (answer !== true) return this.#leave();
    this.#display.resume();
    await this.#cancel();
  }

  async #cancel(): Promise<void> {
    try {
      await this.#session.client.patch("/v1/deployments/{deployment_id}/cancel", {
        path: { deployment_id: this.#deploymentId },
        signal: AbortSignal.any([this.#left.signal, this.#ended.signal]),
      });
    } catch (error) {
      const isOver = this.#left.signal.aborted || this.#ended.signal.aborted;
      const hasEnded = error instanceof ApiError && error.code === "conflict";
      if (isOver || hasEnded) return;
      if (!(error instanceof LongshoreError)) throw error;
      const { message } = explain(error) as CliError;
      this.#display.pause();
      this.#context.output.note(`The deployment is not canceled: ${message}`);
      this.#display.resume();
      this.#answered = undefined;
    }
  }

  #leave(): void {
    const id = this.#deploymentId;
    this.#left.abort(
      new CliError(
        `The deployment ${id} continues. Follow it: longshore logs --follow ${id} Cancel it: longshore deployments cancel ${id}`,
        ExitCode.interrupted,
      ),
    );
  }
}
