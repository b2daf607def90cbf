import type { Client } from "./client.ts";
import { exampleBody, type Operation, operations, resolve } from "./contract.ts";

export type Ids = Record<string, string>;

export const parametersOf = ({ path }: Pick<Operation, "path">): string[] =>
  [...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => String(name));

/** With the query parameters that an operation requires. */
export function pathWith(
  { path, parameters = [] }: Pick<Operation, "path"> & Partial<Pick<Operation, "parameters">>,
  ids: Ids,
): string {
  const filled = path.replaceAll(/\{(.+?)\}/g, (_, name: string) => {
    const id = ids[name];
    if (!id) throw new Error(`Add an ID for {${name}} to newIds() in test/support/operations.ts`);
    return id;
  });
  const other = parameters.some((each) => each.in === "query" && each.name === "with");
  return other ? `${filled}?with=${ids["environment_id"]}` : filled;
}

/** So that requests in one project take different names. */
export function uniqueName(name: unknown): unknown {
  const suffix = crypto.randomUUID().slice(0, 8);
  if (/^[a-z0-9-]+$/.test(String(name))) return `${name}-${suffix}`;
  return /^[A-Z_]+$/.test(String(name)) ? `${name}_${suffix.toUpperCase()}` : name;
}

/** The name of the schema of a success. */
function schemaOf({ responses }: Operation, status: string): unknown {
  const content = resolve(responses[status] ?? {})["content"] as
    | Record<string, { schema: object }>
    | undefined;
  const { $ref } = (content?.["application/json"]?.schema ?? {}) as { $ref?: string };
  return $ref;
}

/** The POST that creates what the operation reads. */
function creationOf(read: Operation): Operation | undefined {
  const schema = schemaOf(read, "200");
  if (read.method !== "GET" || schema === undefined) return undefined;
  return operations.find((each) => each.method === "POST" && schemaOf(each, "201") === schema);
}

/** The GET of what the operation creates, changes or deletes. */
export function readOf(operation: Operation): Operation | undefined {
  const schema = operation.method === "POST" ? schemaOf(operation, "201") : undefined;
  return operations.find((each) => {
    if (each.method !== "GET") return false;
    return schema === undefined ? each.path === operation.path : schemaOf(each, "200") === schema;
  });
}

/**
 * Creates the example of each resource that has no ID yet, if all parameters of its POST have one. Returns
 * the new IDs, by the parameter of the path that reads them.
 */
export async function createMissing(
  client: Client,
  ids: Ids,
  reads: readonly Operation[] = operations,
): Promise<Ids> {
  const created: Ids = {};
  for (const read of reads) {
    const name = parametersOf(read).at(-1);
    if (name === undefined || name in ids || name in created) continue;
    const creation = creationOf(read);
    if (!creation || !parametersOf(creation).every((each) => each in ids)) continue;
    const example = exampleBody(creation);
    const body = example && "name" in example && { ...example, name: uniqueName(example["name"]) };
    const reply = await client.post(pathWith(creation, ids), body || example);
    if (reply.status !== 201) {
      throw new Error(`The example of ${creation.operationId} creates nothing: ${reply.text}`);
    }
    created[name] = reply.body.id;
  }
  return created;
}
