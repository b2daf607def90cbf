import { setTimeout as sleep } from "node:timers/promises";
import { POLICIES } from "../../src/rate-limits/policies.ts";
import type { Caller, Reply } from "./caller.ts";
import { type FloodRequest, newRequests } from "./requests.ts";
import { newRunnerRequests } from "./runner-requests.ts";
import { newTarget } from "./target.ts";

export interface Counts {
  admitted: number;
  refused: number;
}

export interface Flood {
  /** The most expensive valid requests of all keys and 5 runner tokens, until it is aborted. */
  sendWorst(pauseMs: number, signal: AbortSignal): Promise<Counts>;
  /** As many requests that are refused before they reach the database. */
  sendRefused(pauseMs: number, signal: AbortSignal): Promise<Counts>;
}

/** Sends its next request. */
type Send = () => Promise<Pick<Reply, "status" | "body">>;

/** @param callers Of one owner; the first makes what the requests are about. */
export async function newFlood(callers: readonly Caller[], d1: D1Database): Promise<Flood> {
  const [owner, refused = owner] = callers;
  if (!owner || !refused) throw new Error("There is no key");
  const target = await newTarget(owner, d1);
  const requests = newRequests(target);
  const runners = target.runners.map(newRunnerRequests);
  await proveValid(requests, callers, runners);
  const worst = [...callers.map((caller, at) => inTurns(requests, caller, at)), ...runners];
  const reveal = () => refused.send("GET", "/v1/variables/0000000000000000000000/value");
  return {
    sendWorst: (pauseMs, signal) => repeat(worst, pauseMs, signal),
    sendRefused: async (pauseMs, signal) => {
      for (let sent = 0; sent < POLICIES.reveal.limit; sent += 1) await reveal();
      return repeat(
        worst.map(() => reveal),
        pauseMs,
        signal,
      );
    },
  };
}

/** Sends each once, so that the flood has no request that costs little because it fails. */
async function proveValid(
  requests: readonly FloodRequest[],
  callers: readonly Caller[],
  runners: readonly Send[],
): Promise<void> {
  const failed: string[] = [];
  const prove = (what: string, reply: Pick<Reply, "status" | "body"> | undefined) => {
    if (!reply || reply.status >= 300)
      failed.push(`${what}: ${JSON.stringify(reply?.body)?.slice(0, 200)}`);
  };
  for (const send of runners)
    for (let sent = 0; sent < 10; sent += 1) prove("runner", await admitted(send));
  // Two operations may end what one creates.
  const all = [...requests.filter(({ creates }) => creates), ...requests];
  for (const [at, { operation, send }] of all.entries()) {
    const caller = callers[at % callers.length];
    if (caller) prove(operation.operationId, await admitted(() => send(caller)));
  }
  if (failed.length > 0) throw new Error(`Not valid:\n${failed.join("\n")}`);
}

/** Sends it again as long as it is refused for the rate. */
async function admitted(
  send: () => ReturnType<Send> | undefined,
): Promise<Awaited<ReturnType<Send>> | undefined> {
  for (;;) {
    const reply = await send();
    if (reply?.status !== 429) return reply;
    await sleep(1_000);
  }
}

/** @param start Where to begin, so that callers do not send the same at the same time. */
function inTurns(requests: readonly FloodRequest[], caller: Caller, start: number): Send {
  let turn = start * 7;
  return () => {
    for (;;) {
      const sent = requests[turn % requests.length]?.send(caller);
      turn += 1;
      if (sent) return sent;
    }
  };
}

/** Each sends one request after the other. */
async function repeat(
  sends: readonly Send[],
  pauseMs: number,
  signal: AbortSignal,
): Promise<Counts> {
  const counts: Counts = { admitted: 0, refused: 0 };
  const connection = async (send: Send) => {
    while (!signal.aborted) {
      const { status } = await send();
      counts[status === 429 ? "refused" : "admitted"] += 1;
      await sleep(pauseMs);
    }
  };
  await Promise.all(sends.map(connection));
  return counts;
}
