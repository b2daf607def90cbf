/**
 * Answers every fetch of the Worker under test, in Node. Each test uses its own endpoint below
 * `/<name>/` and reads the received requests at `/<name>/log`.
 */

interface ReceivedRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}

interface Endpoint {
  log: ReceivedRequest[];
  held: (() => void)[];
}

const endpoints = new Map<string, Endpoint>();

export async function outboundService(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const [, name = "", what] = pathname.split("/");
  const endpoint = endpoints.get(name) ?? { log: [], held: [] };
  endpoints.set(name, endpoint);
  if (what === "log") return Response.json(endpoint.log);
  if (what === "release") {
    for (const release of endpoint.held.splice(0)) release();
    return new Response("released");
  }
  const headers = Object.fromEntries(request.headers);
  endpoint.log.push({ path: pathname, headers, body: await request.text() });
  if (what === "dead") await new Promise<void>((resolve) => endpoint.held.push(resolve));
  if (what === "moved") {
    return new Response(null, { status: 307, headers: { location: `/${name}/canary` } });
  }
  if (what === "flaky" && endpoint.log.filter(({ path }) => path === pathname).length === 1) {
    return new Response("not now", { status: 503 });
  }
  return new Response("ok");
}
