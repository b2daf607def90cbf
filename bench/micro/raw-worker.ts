import type { BindingCall, Statement } from "./recording.ts";

/** What the service does for one operation, without the way in which it finds out. */
export interface RawOperation {
  trips: readonly (readonly Statement[])[];
  calls: readonly BindingCall[];
  status: number;
  reply: unknown;
}

type Methods = Record<string, (...parameters: readonly unknown[]) => Promise<unknown>>;

interface RawEnv {
  DB: D1Database;
  /** By method and path. */
  RAW: Readonly<Record<string, RawOperation>>;
  /** The digests of the keys. */
  DIGESTS: readonly string[];
  [binding: string]: unknown;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const ENCODER = new TextEncoder();

/**
 * The minimum: looks the key up by its digest, reads the body, and runs the statements of the service
 * in parallel with its calls of objects. It validates nothing, and sets no headers.
 */
// biome-ignore lint/style/noDefaultExport: the runtime requires it.
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    const operation = env.RAW[`${request.method} ${pathname}`];
    if (!operation) return new Response(null, { status: 404 });
    const digest = await hash(request.headers.get("x-api-key") ?? "");
    if (!env.DIGESTS.includes(digest)) return new Response(null, { status: 401 });
    const isJson = request.headers.get("content-type") === "application/json";
    if (request.body) await (isJson ? request.json() : request.arrayBuffer());
    await Promise.all([run(env.DB, operation), ...operation.calls.map((call) => send(env, call))]);
    if (operation.status === 204) return new Response(null, { status: 204 });
    return Response.json(operation.reply, { status: operation.status });
  },
} satisfies ExportedHandler<RawEnv>;

async function hash(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", ENCODER.encode(text)));
  return Array.from(bytes, (byte) => HEX[byte]).join("");
}

async function run(database: D1Database, { trips }: RawOperation): Promise<void> {
  const session = database.withSession("first-unconstrained");
  for (const statements of trips) {
    const bound = statements.map(({ sql, parameters }) => session.prepare(sql).bind(...parameters));
    const [only] = bound;
    await (only && bound.length === 1 ? only.raw() : session.batch(bound));
  }
}

function send(env: RawEnv, { binding, name, method, parameters }: BindingCall) {
  const target = env[binding] as Methods & Pick<DurableObjectNamespace, "getByName">;
  const methods = name === undefined ? target : (target.getByName(name) as unknown as Methods);
  return methods[method]?.(...parameters);
}
