import { createServer } from "node:http";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const PATH = "/metrics";

export interface MetricsServer {
  close(): void;
}

/** Serves what `render` returns to Prometheus, without a token: open the port to Prometheus only. */
export async function serveMetrics(
  host: string,
  port: number,
  render: () => Promise<string>,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (request.url?.split("?")[0] !== PATH) return void response.writeHead(404).end();
    render().then(
      (text) => response.writeHead(200, { "content-type": CONTENT_TYPE }).end(text),
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, resolve);
  });
  return {
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
