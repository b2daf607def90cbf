import { afterAll } from "vitest";
import worker from "../../src/index.ts";

/**
 * Drops messages that earlier files of the runtime have sent, such as those of retries, which arrive later: they
 * would wake the consumer of the Worker while a file tests one of its own.
 */
export function dropEarlierMessages(): void {
  // Before a test stops the clock.
  const startedAt = Date.now();
  const { queue } = worker;
  worker.queue = async (batch, env, execution) => {
    if (batch.messages.every(({ timestamp }) => timestamp.getTime() < startedAt)) batch.ackAll();
    else await queue(batch, env, execution);
  };
  afterAll(() => {
    worker.queue = queue;
  });
}
