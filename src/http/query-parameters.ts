import { type RouteConfig, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { BadInput, type Issue, MAXIMUM_ISSUES } from "../lib/errors.ts";

/** Every list accepts them, also one that has a single page. */
const OF_LISTS = ["after", "limit", "sort_by"];
/** The comparison takes quadratic time. */
const COMPARED_CHARACTERS = 40;

/** The error for an operation without parameters. */
export const UNKNOWN_PARAMETER = new BadInput([unknownParameter("colour", [])]);

/** Refuses query parameters that the operation does not have: a misspelled filter would show everything. */
export function refuseUnknownParameters({
  request,
  responses,
}: Pick<RouteConfig, "request" | "responses">): MiddlewareHandler {
  const query = request?.query;
  const declared = query instanceof z.ZodObject ? Object.keys(query.shape) : [];
  const known = [...declared, ...(isList(responses) ? OF_LISTS : [])];
  return (c, next) => {
    if (!c.req.url.includes("?")) return next();
    const unknown = [...new URL(c.req.url).searchParams.keys()].filter(
      (name) => !known.includes(name),
    );
    if (unknown.length === 0) return next();
    throw new BadInput(
      unknown.slice(0, MAXIMUM_ISSUES).map((name) => unknownParameter(name, known)),
    );
  };
}

function isList({ 200: reply }: RouteConfig["responses"]): boolean {
  const json = reply && "content" in reply && reply.content?.["application/json"];
  return json && "schema" in json && json.schema instanceof z.ZodObject
    ? "has_more" in json.schema.shape
    : false;
}

function unknownParameter(path: string, known: readonly string[]): Issue {
  const name = path.slice(0, COMPARED_CHARACTERS);
  const [nearest] = known.toSorted((one, other) => distance(name, one) - distance(name, other));
  const instead = nearest === undefined ? "remove it" : `send ${nearest}, or remove it`;
  return { path, message: `Unknown query parameter; ${instead}.` };
}

/** The Levenshtein distance: how many characters are inserted, deleted or replaced. */
function distance(one: string, other: string): number {
  const row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 0; at < one.length; at += 1) {
    let diagonal = at;
    row[0] = at + 1;
    for (let to = 1; to <= other.length; to += 1) {
      const above = Number(row[to]);
      const replaced = diagonal + (one[at] === other[to - 1] ? 0 : 1);
      row[to] = Math.min(above + 1, Number(row[to - 1]) + 1, replaced);
      diagonal = above;
    }
  }
  return Number(row.at(-1));
}

/**
 * What is wrong with a parameter, beyond what its schema says.
 * @param values All that were sent with its name.
 */
export function explainParameter({ path, message }: Issue, values: readonly string[]): Issue {
  if (values.length > 1 && !path.includes(".")) return { path, message: "Send it once." };
  const hasSpace = / \d\d:\d\d$/.test(values[0] ?? "");
  return { path, message: hasSpace ? `${message} Encode + as %2B.` : message };
}
