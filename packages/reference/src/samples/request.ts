import type { Operation, Parameter } from "../contract.ts";
import { exampleOf } from "../example.ts";
import type { Schemas } from "../schemas.ts";

/** An example of a request, which the samples send in several languages. */
export interface ExampleRequest {
  operation: Operation;
  /** Where parameters are required, they have the values of their examples. */
  path: string;
  pathParameters: Record<string, unknown>;
  query: Record<string, unknown>;
  headers: Record<string, unknown>;
  /** JSON. Undefined: none. */
  body: unknown;
}

/** Has the parameters that are required, and a body without optional fields that have no example. */
export function exampleRequest(operation: Operation, schemas: Schemas): ExampleRequest {
  const { path, parameters, body } = operation;
  const valuesIn = (location: string) => {
    const needed = parameters.filter((each) => each.in === location && each.required);
    return Object.fromEntries(needed.map((each) => [each.name, exampleOfParameter(each, schemas)]));
  };
  const pathParameters = valuesIn("path");
  return {
    operation,
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(pathParameters[name])),
    pathParameters,
    query: valuesIn("query"),
    headers: valuesIn("header"),
    body: body && exampleOf(body.schema, schemas, true),
  };
}

export function queryOf({ query }: ExampleRequest): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encode(value)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function exampleOfParameter({ schema = {} }: Parameter, schemas: Schemas): unknown {
  return exampleOf(schema, schemas, true);
}

function encode(value: unknown): string {
  return encodeURIComponent(String(value));
}
