import { ConnectionError } from "./errors.ts";
import { EventParser, type ServerSentEvent } from "./event-parser.ts";
import { unexpectedResponse } from "./read-response.ts";
import { retryDelayMs, sleep } from "./retry.ts";
import type { PreparedRequest, Transport } from "./transport.ts";

export interface StreamedEvent {
  event: string;
  id: string;
  data: unknown;
}

const RETRY_MS = 1_000;

/**
 * Yields each event once, until `end`. Continues after the newest ID whenever the connection ends before.
 * Leaves out a status that a new connection repeats.
 */
export async function* follow(
  transport: Transport,
  request: PreparedRequest,
  idleTimeoutMs: number,
): AsyncGenerator<StreamedEvent> {
  let lastId = "";
  let retryMs = RETRY_MS;
  let shownStatus = "";
  let failures = 0;
  while (failures <= request.retries) {
    const parser = new EventParser();
    const response = await transport.open(resume(request, lastId));
    failures += 1;
    for await (const { event, data, id } of readEvents(response, parser, idleTimeoutMs)) {
      failures = 0;
      lastId = id || lastId;
      if (event === "status" && data === shownStatus) continue;
      if (event === "status") shownStatus = data;
      yield { event: event === "message" ? "line" : event, id: lastId, data: JSON.parse(data) };
      if (event === "end") return;
    }
    request.signal?.throwIfAborted();
    retryMs = parser.retryMs ?? retryMs;
    await sleep(retryMs + retryDelayMs(undefined, failures), request.signal);
  }
  throw new ConnectionError(`${request.url}: ${failures} streams had no event.`);
}

function resume(request: PreparedRequest, lastId: string): PreparedRequest {
  if (lastId === "") return request;
  return { ...request, headers: { ...request.headers, "last-event-id": lastId } };
}

/** Ends when the connection does, however it ends. */
async function* readEvents(
  response: Response,
  parser: EventParser,
  idleTimeoutMs: number,
): AsyncGenerator<ServerSentEvent> {
  const type = response.headers.get("content-type") ?? "";
  if (!response.body || !type.startsWith("text/event-stream")) throw unexpectedResponse(response);
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  try {
    for (;;) {
      const bytes = await readChunk(reader, idleTimeoutMs);
      if (!bytes) return;
      yield* parser.push(bytes);
    }
  } finally {
    // Rejects if the connection is lost already.
    reader.cancel().catch(() => undefined);
  }
}

/** Undefined at the end, after an error, and if nothing arrives in time. */
async function readChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  timeoutMs: number,
): Promise<Uint8Array | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, undefined);
  });
  try {
    const result = await Promise.race([reader.read(), silence]);
    return result?.value;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
