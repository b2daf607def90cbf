import { Agent, get } from "node:http";

export interface Sample {
  /** Time to the end of each response, in milliseconds. */
  latencies: number[];
  /** Responses per second, over all connections. */
  perSecond: number;
}

/** Requests `url` once with each key, over keep-alive connections. */
export async function load(
  url: URL,
  keys: readonly string[],
  connections: number,
): Promise<Sample> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  const rest = keys.values();
  // All connections share one iterator, so each sends its next request after the previous response.
  const connection = async () => {
    for (const key of rest) latencies.push(await ask(agent, url, key));
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: connections }, connection));
  const seconds = (performance.now() - start) / 1000;
  agent.destroy();
  return { latencies, perSecond: keys.length / seconds };
}

/** Returns the duration in milliseconds. Throws on any status but 200, which would distort the result. */
function ask(agent: Agent, url: URL, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const request = get(url.href, { agent, headers: { "x-api-key": key } }, (response) => {
      response.resume();
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) resolve(performance.now() - start);
        else reject(new Error(`${url} answered ${response.statusCode}`));
      });
    });
    request.on("error", reject);
  });
}
