/**
 * What is outside of the Worker under test: everything that it fetches ends here, in Node. Below
 * `/<name>/` each test has an endpoint of its own, and asks at `/<name>/log` what it has got.
 */

interface Entry {
  path: string;
  headers: Record<string, string>;
  body: string;
}

interface Endpoint {
  log: Entry[];
  held: (() => void)[];
}

const places = new Map<string, Endpoint>();

export async function internet(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const [, name = "", what] = pathname.split("/");
  const place = places.get(name) ?? { log: [], held: [] };
  places.set(name, place);
  if (what === "log") return Response.json(place.log);
  if (what === "release") {
    for (const release of place.held.splice(0)) release();
    return new Response("released");
  }
  const headers = Object.fromEntries(request.headers);
  place.log.push({ path: pathname, headers, body: await request.text() });
  if (what === "dead") await new Promise<void>((resolve) => place.held.push(resolve));
  if (what === "moved") {
    return new Response(null, { status: 307, headers: { location: `/${name}/canary` } });
  }
  if (what === "flaky" && place.log.filter(({ path }) => path === pathname).length === 1) {
    return new Response("not now", { status: 503 });
  }
  return new Response("ok");
}
