import type worker from "../../../../src/index.ts";

/** Proves that a request comes from the server's own process: other programs of this machine reach the port, too. */
export const TOKEN_HEADER = "longshore-server-token";

interface ServerEnv extends Env {
  SERVER_TOKEN: string;
  /** The scheme of the address that people use: `https:` behind a proxy with TLS. */
  SERVER_PROTOCOL: string;
  /** `run_worker_first` of wrangler.toml. */
  WORKER_FIRST: readonly string[];
}

type Handler = Required<Pick<ExportedHandler<ServerEnv>, "fetch">>;

/** What the server's process calls in workerd instead of the Worker's own handlers. */
export function createEntry(main: typeof worker): { requests: Handler; schedule: Handler } {
  return {
    requests: {
      async fetch(received, env, execution) {
        if (received.headers.get(TOKEN_HEADER) !== env.SERVER_TOKEN) return refuse();
        const request = toPublic(received, env.SERVER_PROTOCOL);
        const asset = await readAsset(request, env);
        return asset ?? main.fetch(request, env, execution);
      },
    },
    schedule: {
      async fetch(received, env, execution) {
        if (received.headers.get(TOKEN_HEADER) !== env.SERVER_TOKEN) return refuse();
        const controller = {
          scheduledTime: Date.now(),
          cron: "* * * * *",
          noRetry: () => undefined,
        };
        await main.scheduled(controller as unknown as ScheduledController, env, execution);
        return new Response(null, { status: 204 });
      },
    },
  };
}

function refuse(): Response {
  return new Response(null, { status: 403 });
}

type Received = Parameters<Handler["fetch"]>[0];

/** `Host` is that of the public address already. The scheme is that of the connection to workerd. */
function toPublic(received: Received, protocol: string): Received {
  const request = new Request(received.url.replace(/^http:/, protocol), received);
  request.headers.delete(TOKEN_HEADER);
  return request as Received;
}

/** Serves assets like the platform's router, without its two hops between processes. */
async function readAsset(request: Received, env: ServerEnv): Promise<Response | undefined> {
  if (request.method !== "GET" && request.method !== "HEAD") return undefined;
  const { pathname } = new URL(request.url);
  if (env.WORKER_FIRST.some((pattern) => matches(pattern, pathname))) return undefined;
  const response = await env.ASSETS.fetch(request);
  return response.status === 404 ? undefined : response;
}

function matches(pattern: string, pathname: string): boolean {
  return pattern.endsWith("/*") ? pathname.startsWith(pattern.slice(0, -1)) : pathname === pattern;
}
