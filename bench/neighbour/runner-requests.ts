import { LIMITS } from "../../src/lib/limits.ts";
import type { Reply } from "./caller.ts";
import { operationOf } from "./document.ts";
import { largestBody, unique } from "./largest-input.ts";
import type { RunnerTarget } from "./target.ts";

const LINE = `${"v".repeat(99)}\n`;
const CHUNK = LINE.repeat(Math.floor(LIMITS.logChunkBytes.value / LINE.length));
const SEQ = '"seq":1,';

/**
 * The requests that a runner repeats in an attempt, in turns. A report has as many new resources of the stack
 * as it may, with the longest texts; those of the report before are deleted by it.
 */
export function newRunnerRequests(target: RunnerTarget): () => Promise<Reply> {
  const { runner, attemptPath, stackId, headers } = target;
  // `resources` instead of `changed_resources`: those of the report before are deleted, too.
  const replacements = { seq: 1, timestamp: undefined, changed_resources: undefined };
  const report = largestBody(operationOf("reportStack").body ?? {}, replacements);
  let seq = 0;
  let offset = 0;
  let turn = 0;
  const send = (method: string, path: string, body?: unknown) =>
    runner.send(method, path, body, headers);
  const sendReport = () => {
    seq += 1;
    const body = unique(report).replace(SEQ, `"seq":${seq},`);
    return runner.sendText("PUT", `${attemptPath}/stacks/${stackId}`, body, {
      ...headers,
      "content-type": "application/json",
    });
  };
  const append = async () => {
    const path = `${attemptPath}/logs?offset=${offset}&stack_id=${stackId}`;
    const reply = await runner.sendText("POST", path, CHUNK, headers);
    offset = reply.body?.next_offset ?? offset;
    return reply;
  };
  const between = [
    () => send("POST", `${attemptPath}/heartbeat`),
    () => send("GET", `${attemptPath}/variables`),
    append,
    () => send("POST", "/v1/runner/claims", { request_id: crypto.randomUUID() }),
    () => send("GET", "/v1/runner/attempts?limit=240"),
  ];
  return () => {
    turn += 1;
    const next = turn % 2 === 0 ? between[(turn / 2) % between.length] : undefined;
    return (next ?? sendReport)();
  };
}
