import { recordBindings } from "./record.ts";
import type { CallRequest, Recording } from "./recording.ts";
import { replayBindings } from "./replay.ts";

/** A call to repeat, and the answers of the bindings. */
export interface Operation {
  request: CallRequest;
  recording: Recording;
}

type Service = Pick<Required<ExportedHandler<object>>, "fetch">;
type ServiceRequest = Parameters<Service["fetch"]>[0];

interface MicroEnv {
  /** What to repeat, by its name. */
  OPERATIONS: Record<string, Operation>;
}

const ORIGIN = "https://longshore.example.com";

/**
 * The service, with two more paths: `POST /bench/record` calls it once with the real bindings, and
 * `POST /bench/replay` calls it many times with bindings that answer at once.
 */
export function instrument(service: Service) {
  const bindings = new Map<string, object>();
  return {
    ...service,
    async fetch(request: ServiceRequest, env: MicroEnv, execution: ExecutionContext) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/bench/record") {
        return Response.json(await record(service, await request.json(), env));
      }
      if (pathname !== "/bench/replay") return service.fetch(request, env, execution);
      const name = searchParams.get("operation") ?? "";
      const operation = env.OPERATIONS[name];
      if (!operation) return new Response(null, { status: 404 });
      const stubs = bindings.get(name) ?? { ...env, ...replayBindings(operation.recording) };
      bindings.set(name, stubs);
      await replay(service, operation, stubs, Number(searchParams.get("count")));
      return new Response(null, { status: 204 });
    },
  };
}

async function record(service: Service, request: CallRequest, env: object): Promise<Recording> {
  const recorded = { statements: {}, answers: {}, trips: [], calls: [] };
  const background: Promise<unknown>[] = [];
  const response = await service.fetch(
    toRequest(request),
    recordBindings(env, recorded),
    newExecution(background),
  );
  const body = await response.text();
  await Promise.all(background);
  return { status: response.status, body, ...recorded };
}

/** One call after the other. */
async function replay(
  service: Service,
  { request, recording }: Operation,
  env: object,
  count: number,
): Promise<void> {
  // Printing a line is work of the local runtime.
  for (const level of ["debug", "info", "log", "warn", "error"] as const) console[level] = discard;
  for (let call = 0; call < count; call += 1) {
    const background: Promise<unknown>[] = [];
    const response = await service.fetch(toRequest(request), env, newExecution(background));
    const body = await response.arrayBuffer();
    if (response.status !== recording.status) {
      const text = new TextDecoder().decode(body);
      throw new Error(`${request.method} ${request.path}: ${response.status} ${text}`);
    }
    if (background.length > 0) await Promise.all(background);
  }
}

function discard(): void {}

function toRequest({ method, path, headers, body }: CallRequest): ServiceRequest {
  const init = { method, headers, ...(body !== undefined && { body }) };
  return new Request(`${ORIGIN}${path}`, init) as ServiceRequest;
}

function newExecution(background: Promise<unknown>[]): ExecutionContext {
  const execution: Pick<ExecutionContext, "waitUntil" | "passThroughOnException" | "props"> = {
    waitUntil: (promise) => void background.push(promise),
    passThroughOnException: () => undefined,
    props: {},
  };
  return execution as ExecutionContext;
}
