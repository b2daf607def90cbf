import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Reply } from "./fixture.ts";
import type { Offer, ProtectedScene } from "./protected-scene.ts";
import type { WalkDeployment } from "./protection-model.ts";

/** Claims and runs deployments, whose starts the model allows or refuses. */
export class ProtectedRunner {
  readonly #scene: ProtectedScene;
  /** How many starts were allowed, and how many refused. */
  readonly starts = { allowed: 0, refused: 0 };

  constructor(scene: ProtectedScene) {
    this.#scene = scene;
  }

  async claim(wanted?: WalkDeployment): Promise<Offer | undefined> {
    const body = {
      request_id: crypto.randomUUID(),
      ...(wanted && { deployment_id: wanted.id }),
    };
    const { status, body: claimed } = await this.#scene.call(
      this.#scene.runnerKey,
      "POST",
      "/v1/runner/claims",
      body,
    );
    if (status !== 200) return undefined;
    const offer = { deployment: this.#scene.model.of(claimed.deployment.id), claimed };
    this.#scene.offers.push(offer);
    return offer;
  }

  /** A start succeeds exactly if the model allows it at that moment. */
  async start(offer = this.#scene.random.pick(this.#scene.offers.slice(-2))): Promise<void> {
    if (!offer) return;
    await this.#scene.sync();
    const { deployment, claimed } = offer;
    const allowed = this.#scene.model.mayStart(deployment, this.#scene.worker.now);
    const open = this.#scene.model.openConditions(deployment, this.#scene.worker.now).join(", ");
    const isQueued = deployment.status === "queued";
    const earlier = await this.#outcomeOf(claimed);
    const { status } = await this.#attempt(claimed, "start");
    const outcome = await this.#outcomeOf(claimed);
    // An attempt that has ended is refused whatever the conditions are by now.
    if (!isQueued || earlier !== null) return;
    if (status === 200) {
      expect(allowed, `a start without its conditions: ${open}`).not.toBe("no");
      this.#scene.model.start(deployment, this.#scene.worker.now);
      deployment.status = "in_progress";
      this.starts.allowed += 1;
    } else if (outcome === "refused") {
      expect(allowed, "a start is refused although its conditions are met").not.toBe("yes");
      this.starts.refused += 1;
    }
  }

  /** Null: it has not ended. */
  async #outcomeOf({ attempt_id: id }: Reply["body"]): Promise<unknown> {
    const select = env.DB.prepare("select outcome from attempts where id = ?").bind(id);
    return (await select.first("outcome")) ?? null;
  }

  #attempt({ attempt_id: id, lease_token: lease }: Reply["body"], verb: string, body?: object) {
    return this.#scene.call(
      this.#scene.runnerKey,
      "POST",
      `/v1/runner/attempts/${id}/${verb}`,
      body,
      lease,
    );
  }

  async complete(offer = this.#scene.offers.at(-1), outcome?: string): Promise<void> {
    if (!offer) return;
    const { deployment, claimed } = offer;
    const chosen = outcome ?? (this.#scene.random.chance(0.8) ? "succeeded" : "failed");
    const { attempt_id: id, lease_token: lease } = claimed;
    for (const stack of claimed.deployment.stack_ids) {
      const path = `/v1/runner/attempts/${id}/stacks/${stack}`;
      await this.#scene.call(this.#scene.runnerKey, "PUT", path, { seq: 1, status: chosen }, lease);
    }
    const { status } = await this.#attempt(claimed, "complete", { outcome: chosen });
    const wasRunning = deployment.status === "in_progress";
    await this.#scene.sync();
    if (status !== 200 || !wasRunning || deployment.status !== "succeeded") return;
    this.#scene.model.setConfiguration(
      deployment.environment,
      deployment.start?.configuration ?? {},
    );
  }
}
