import type { z } from "@hono/zod-openapi";
import type { Context, Env as HonoEnv } from "hono";
import type { Page } from "../db/keyset.ts";
import { entityTagOfJson } from "../lib/entity-tag.ts";
import type { AnswerOnce } from "./envs.ts";
import type { Operation } from "./operation.ts";
import { toEnvelope } from "./pagination.ts";

/** The validated parts of a request. */
type RequestOf<Declared> = Declared extends { request: () => infer Request } ? Request : unknown;

type PartOf<Request, Name extends string> =
  Request extends Record<Name, infer Schema extends z.ZodType> ? z.output<Schema> : undefined;

type BodyOf<Request> = Request extends {
  body: { content: { "application/json": { schema: infer Schema extends z.ZodType } } };
}
  ? z.output<Schema>
  : undefined;

interface Input<Declared, Bindings> {
  ctx: Bindings;
  url: string;
  params: PartOf<RequestOf<Declared>, "params">;
  query: PartOf<RequestOf<Declared>, "query">;
  body: BodyOf<RequestOf<Declared>>;
}

type RowOf<Present> = Present extends (row: infer Row, ctx: never) => unknown ? Row : never;

/** Undefined for a presenter that needs another context. */
type WireOf<Present, Bindings = never> = Present extends (row: never, ctx: Bindings) => infer Wire
  ? Wire
  : undefined;

/** The number of writes by callers. */
type Versioned = { version: number };

type ShownRow<Declared, Present> = Declared extends { version: (row: infer Row) => number }
  ? RowOf<Present> & Row
  : Declared extends { resource: true }
    ? RowOf<Present> & Versioned
    : RowOf<Present>;

/** What the verb of an operation returns. */
export type ResultOf<Declared extends Operation> = Declared extends { presentEach: infer Present }
  ? Page<RowOf<Present>>
  : Declared extends { present: infer Present }
    ? Declared extends { presentSecrets: infer Secrets }
      ? { row: ShownRow<Declared, Present> } & RowOf<Secrets>
      : ShownRow<Declared, Present>
    : unknown;

/** The body of the response, as its presenter makes it. */
type Presented<Declared extends Operation, Bindings> = Declared extends {
  presentEach: infer Present;
}
  ? { data: WireOf<Present, Bindings>[]; has_more: boolean; next_page?: string }
  : Declared extends { present: infer Present }
    ? Declared extends { presentSecrets: infer Secrets }
      ? WireOf<Present, Bindings> & WireOf<Secrets>
      : WireOf<Present, Bindings>
    : undefined;

/** The body of the response, as the document of the operation describes it. */
type Described<Declared extends Operation, Responses> =
  Responses extends Record<
    Declared extends { status: infer Status extends number } ? Status : 200,
    { content: { "application/json": { schema: infer Schema extends z.ZodType } } }
  >
    ? z.output<Schema>
    : undefined;

/** Refuses an operation whose presenter does not return what its document describes. */
export type Presentable<Declared extends Operation, Responses, Bindings> =
  Presented<Declared, Bindings> extends Described<Declared, Responses> & Located<Declared>
    ? unknown
    : {
        "The presenter returns": Presented<Declared, Bindings>;
        "but the document describes": Described<Declared, Responses> & Located<Declared>;
      };

/** What identifies a resource: a member has the ID of its membership. */
type Identified = { id: string } | { membership_id: string };
type Located<Declared> = Declared extends { location: object } ? Identified : unknown;

/** Does the work of an operation, mostly by one verb of a service. */
export type Work<Declared extends Operation, E extends HonoEnv> = (
  input: Input<Declared, E["Bindings"]>,
) => Promise<ResultOf<Declared>>;

/**
 * The handler of an operation: does its work, once for each `Idempotency-Key`, and replies with the
 * status, the presenter, the `ETag` and the `Location` that the operation declares.
 */
export function handlerOf(operation: Operation, work: (input: never) => Promise<unknown>) {
  return (c: Context): Promise<Response> => {
    const { req } = c;
    const input = {
      params: req.valid("param" as never),
      query: req.valid("query" as never),
      body: req.valid("json" as never),
    };
    const run = (ctx: unknown) => work({ ctx, url: req.url, ...input } as never);
    const reply = (result: unknown) => replyWith(operation, { result, ...input, ctx: c.env });
    const answerOnce: AnswerOnce | undefined = c.get("answerOnce");
    return answerOnce ? answerOnce(run, reply) : run(c.env).then(reply);
  };
}

async function replyWith(
  operation: Operation,
  { result, params, ctx }: { result: unknown; params: Params; ctx: unknown },
): Promise<Response> {
  const { status = 200, present, presentEach, presentSecrets, location } = operation;
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (presentEach) {
    const envelope = toEnvelope(result as Page<never>, (row) => presentEach(row, ctx as never));
    return new Response(JSON.stringify(envelope), { status, headers });
  }
  if (!present) return new Response(null, { status });
  const row = presentSecrets ? (result as { row: never }).row : (result as never);
  const shown = present(row, ctx as never);
  const json = JSON.stringify(shown);
  // The tag is that of the resource without its secrets, as a GET shows it.
  if (operation.resource) headers["etag"] = await entityTagOfJson(versionOf(operation, row), json);
  if (location) headers["location"] = locate(location.path, params, shown as Identified);
  const body = presentSecrets
    ? JSON.stringify({ ...shown, ...presentSecrets(result as never) })
    : json;
  return new Response(body, { status, headers });
}

function versionOf({ version }: Operation, row: Versioned): number {
  return version ? version(row as never) : row.version;
}

type Params = Readonly<Record<string, string>> | undefined;

/** The path of a resource: its last parameter identifies the resource, and the others are of the request. */
function locate(path: string, params: Params, shown: Identified): string {
  const own = path.slice(path.lastIndexOf("{"));
  return path
    .replace(own, "id" in shown ? shown.id : shown.membership_id)
    .replaceAll(/\{(.+?)\}/g, (_, name: string) => String(params?.[name]));
}
