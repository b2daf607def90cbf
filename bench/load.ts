import { Agent, get } from "node:http";

export interface Sample {
  /** Of every request, from its start to the end of its answer, in milliseconds. */
  latencies: number[];
  /** Answers in a second, over all connections. */
  perSecond: number;
}

/** Asks for `url` once with each of `keys`, over connections that are kept alive. */
export async function load(
  url: URL,
  keys: readonly string[],
  connections: number,
): Promise<Sample> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  const rest = keys.values();
  // All connections draw from the one iterator, each as soon as its last request is answered.
  const connection = async () => {
    for (const key of rest) latencies.push(await ask(agent, url, key));
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: connections }, connection));
  const seconds = (performance.now() - start) / 1000;
  agent.destroy();
  return { latencies, perSecond: keys.length / seconds };
}

/** One request, in milliseconds. Any answer but 200 ends the benchmark: it measures success alone. */
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
