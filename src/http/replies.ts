import { z } from "@hono/zod-openapi";
import type { Context, TypedResponse } from "hono";
import type { JSONParsed } from "hono/utils/types";
import type { Page } from "../db/keyset.ts";
import { entityTagOfJson } from "../lib/entity-tag.ts";
import { NDJSON } from "./media-types.ts";
import { toEnvelope } from "./pagination.ts";
import type { FeatureEnv } from "./request-context.ts";

/** A reply with a body. */
export function json<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { description, content: { "application/json": { schema } } };
}

export const htmlReply = {
  description: "A page of HTML.",
  content: { "text/html": { schema: z.string() } },
};

/** The type of the key is wide, because the types of zod-openapi allow no handler for the literal. */
export function ndjsonReply(description: string): {
  description: string;
  content: Record<`${string}/x-ndjson`, { schema: z.ZodType<string> }>;
} {
  const schema = z.string().openapi({ description: "One JSON object in each line." });
  return { description, content: { [NDJSON]: { schema } } };
}

/** JSON, and texts by their type. The type of the keys is wide as that of `ndjsonReply`. */
export function jsonOrTextReply(
  schema: z.ZodType,
  texts: Readonly<Record<string, string>>,
  description: string,
): { description: string; content: Record<`text/${string}`, { schema: z.ZodType<string> }> } {
  const others = Object.entries(texts).map(([type, what]) => {
    return [type, { schema: z.string().openapi({ description: what }) }];
  });
  const content = Object.fromEntries([["application/json", { schema }], ...others]);
  return { description, content };
}

export const noContent = { description: "Done; there is no body." };

/** The number of writes by callers. */
type Versioned = { version: number };

/** The `version` of a resource that no caller changes. */
export const unchanging = () => 1;

type Json<Wire, Status extends 200 | 201> = Response &
  TypedResponse<JSONParsed<Wire>, Status, "json">;

type C<Ctx> = Context<FeatureEnv<Ctx>>;

/** A verb of a service, for the caller of the context. */
type Work<Ctx, Result> = (ctx: Ctx) => Promise<Result>;

/** The resource as the caller sees it. */
type Present<Row, Ctx, Wire> = (row: Row, ctx: Ctx) => Wire;

/** For a resource without a `version`. */
interface VersionOf<Row> {
  version?: (row: Row) => number;
}

/** What identifies a resource: a member has the ID of its membership. */
type Identified = { id: string } | { membership_id: string };

/** Replies with the resource that the verb returns, and its `ETag`. */
export async function ok<Ctx, Row, Wire extends object>(
  c: C<Ctx>,
  work: Work<Ctx, Row>,
  present: Present<Row, Ctx, Wire>,
  options?: VersionOf<Row>,
): Promise<Json<Wire, 200>> {
  const row = await c.var.run(work);
  const wire = present(row, c.var.ctx);
  return reply(c, { status: 200, row, wire, ...options });
}

/** Replies 201 with the resource that the verb has created. */
export async function createdHere<Ctx, Row, Wire extends object>(
  c: C<Ctx>,
  work: Work<Ctx, Row>,
  present: Present<Row, Ctx, Wire>,
  options?: VersionOf<Row>,
): Promise<Json<Wire, 201>> {
  const row = await c.var.run(work);
  const wire = present(row, c.var.ctx);
  return reply(c, { status: 201, row, wire, ...options });
}

/**
 * Replies 201 with the resource that the verb has created, and its `Location`.
 * @param path Of the operation that reads it: the last parameter identifies it.
 */
export async function created<Ctx, Row, Wire extends Identified>(
  c: C<Ctx>,
  path: string,
  work: Work<Ctx, Row>,
  present: Present<Row, Ctx, Wire>,
  options?: VersionOf<Row>,
): Promise<Json<Wire, 201>> {
  const row = await c.var.run(work);
  const wire = present(row, c.var.ctx);
  return reply(c, { status: 201, row, wire, path, ...options });
}

/** `created`, for a verb that returns secrets beside the row. The `ETag` is that of the resource without them. */
export async function createdWithSecrets<
  Ctx,
  Row,
  Needed extends object,
  Wire extends Identified,
  Secrets extends object,
>(
  c: C<Ctx>,
  path: string,
  work: Work<Ctx, { row: Row } & Needed>,
  present: Present<Row, Ctx, Wire>,
  options: VersionOf<Row> & { secrets: (result: Needed) => Secrets },
): Promise<Json<Wire & Secrets, 201>> {
  const result = await c.var.run(work);
  const wire = present(result.row, c.var.ctx);
  const { version, secrets } = options;
  return reply(c, {
    ...{ status: 201, row: result.row, wire, path, secrets: secrets(result) },
    ...(version && { version }),
  });
}

/** `ok`, for a verb that returns secrets beside the row. */
export async function okWithSecrets<
  Ctx,
  Row,
  Needed extends object,
  Wire extends object,
  Secrets extends object,
>(
  c: C<Ctx>,
  work: Work<Ctx, { row: Row } & Needed>,
  present: Present<Row, Ctx, Wire>,
  options: { secrets: (result: Needed) => Secrets },
): Promise<Json<Wire & Secrets, 200>> {
  const result = await c.var.run(work);
  const wire = present(result.row, c.var.ctx);
  return reply(c, { status: 200, row: result.row, wire, secrets: options.secrets(result) });
}

interface Shown {
  status: 200 | 201;
  row: unknown;
  wire: object;
  secrets?: object;
  path?: string;
  version?: (row: never) => number;
}

async function reply<Ctx, Wire, Status extends 200 | 201>(
  c: C<Ctx>,
  { status, row, wire, secrets, path, version }: Shown,
): Promise<Json<Wire, Status>> {
  const body = JSON.stringify(wire);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (c.var.operation.resource) {
    const number = version ? version(row as never) : (row as Versioned).version;
    headers["etag"] = await entityTagOfJson(number, body);
  }
  if (path !== undefined) headers["location"] = locate(path, c.req.param(), wire as Identified);
  const shown = secrets ? JSON.stringify({ ...wire, ...secrets }) : body;
  return new Response(shown, { status, headers }) as Json<Wire, Status>;
}

/** The other parameters of the path are those of the request. */
function locate(path: string, params: Record<string, string>, shown: Identified): string {
  const own = path.slice(path.lastIndexOf("{"));
  return path
    .replace(own, "id" in shown ? shown.id : shown.membership_id)
    .replaceAll(/\{(.+?)\}/g, (_, name: string) => String(params[name]));
}

/** Replies with a page of what the verb lists. */
export async function page<Ctx, Row, Wire extends object>(
  c: C<Ctx>,
  work: Work<Ctx, Page<Row>>,
  present: Present<Row, Ctx, Wire>,
): Promise<Json<{ data: Wire[]; has_more: boolean; next_page?: string }, 200>> {
  const found = await c.var.run(work);
  const { ctx } = c.var;
  return c.json(
    toEnvelope(found, (row) => present(row, ctx)),
    200,
  ) as never;
}

/** Replies 204 once the verb has ended. */
export async function done<Ctx>(c: C<Ctx>, work: Work<Ctx, unknown>) {
  await c.var.run(work);
  return c.body(null, 204);
}
