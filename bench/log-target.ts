import { type Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { SeededAttempt } from "./log-seed.ts";

/** A log as its runner and one follower use it. */
export interface LogTarget {
  /** Appends after the last bytes. */
  append(bytes: Uint8Array): Promise<void>;
  follow(): Promise<Follower>;
}

export interface Follower {
  /** The time at which a text arrived. */
  waitFor(text: string): Promise<number>;
  close(): void;
}

/** A log of the service, followed with server-sent events. */
export function logOfService(
  agent: Agent,
  url: URL,
  { attemptId, deploymentId, stackId, token, leaseToken }: SeededAttempt,
  readerKey: string,
): LogTarget {
  const path = `/v1/runner/attempts/${attemptId}/logs?stack_id=${stackId}`;
  const headers = {
    "x-api-key": token,
    "lease-token": leaseToken,
    "content-type": "text/plain",
  };
  const appender = appenderTo(agent, new URL(path, url), headers);
  return {
    append: appender.append,
    follow: async () => {
      const followed = new URL(
        `/v1/deployments/${deploymentId}/logs?after=${appender.size()}`,
        url,
      );
      const accept = { "x-api-key": readerKey, accept: "text/event-stream" };
      const response = await respond(request(followed.href, { headers: accept }).end());
      const arrivals = new Arrivals();
      response.setEncoding("utf8").on("data", (part: string) => arrivals.add(part));
      response.on("error", () => undefined);
      await arrivals.waitFor("event: status");
      return { waitFor: (line) => arrivals.waitFor(line), close: () => void response.destroy() };
    },
  };
}

/** A log of the bare object, followed over a WebSocket. */
export function logOfBareObject(agent: Agent, url: URL, name: string): LogTarget {
  const target = new URL(`/${name}`, url);
  return {
    append: appenderTo(agent, target, {}).append,
    follow: async () => {
      const socket = new WebSocket(target.href.replace("http:", "ws:"));
      socket.binaryType = "arraybuffer";
      const arrivals = new Arrivals();
      socket.addEventListener("message", ({ data }) => arrivals.add(Buffer.from(data).toString()));
      await new Promise((resolve, reject) => {
        socket.addEventListener("open", resolve);
        socket.addEventListener("error", reject);
      });
      return { waitFor: (line) => arrivals.waitFor(line), close: () => socket.close() };
    },
  };
}

/** What has arrived since the last text that was waited for. */
class Arrivals {
  #text = "";
  #check: () => void = () => undefined;

  add(text: string): void {
    this.#text += text;
    this.#check();
  }

  waitFor(text: string): Promise<number> {
    return new Promise((resolve) => {
      this.#check = () => {
        if (!this.#text.includes(text)) return;
        this.#text = "";
        this.#check = () => undefined;
        resolve(performance.now());
      };
      this.#check();
    });
  }
}

function appenderTo(agent: Agent, url: URL, headers: Record<string, string>) {
  let size = 0;
  return {
    size: () => size,
    /** Throws on any status but 200, which would distort the result. */
    append: async (bytes: Uint8Array) => {
      url.searchParams.set("offset", String(size));
      const sent = request(url.href, { method: "POST", agent, headers });
      sent.end(bytes);
      const response = await respond(sent);
      const body = await text(response);
      if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode} ${body}`);
      size += bytes.length;
    },
  };
}

function respond(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.on("response", resolve).on("error", reject);
  });
}
