import type { Credential, Reply } from "../contract.ts";
import type { Schema, Schemas } from "../schemas.ts";
import { isSentByCli } from "./cli.ts";
import type { ExampleRequest } from "./request.ts";
import { credentialVariable, MAX_LINE } from "./shell.ts";

const INDENT = "  ";
/** The client that `renderSetup` creates. */
const CLIENT = "longshore";

export function renderTypeScript(request: ExampleRequest, schemas: Schemas): string {
  const { operation } = request;
  const [reply] = operation.replies;
  const options = renderOptions(request);
  if (reply?.isStream) return renderLoop("event", `${CLIENT}.stream`, operation.path, options);
  const item = operation.method === "GET" && reply && itemOf(reply, schemas);
  if (item) return renderLoop(nameOf(item), `${CLIENT}.list`, operation.path, options);
  const isText = reply?.mediaType !== undefined && reply.mediaType !== "application/json";
  if (isText) return renderTextRequest(request, options);
  const call = `await ${CLIENT}.${operation.method.toLowerCase()}`;
  const result = reply?.schema && nameOf(reply.schema);
  const start = result ? `const ${result} = ${call}` : call;
  return `${renderCall(start, JSON.stringify(operation.path), options)};`;
}

/** Undefined if the reply is not a list with pages. */
function itemOf({ schema }: Reply, schemas: Schemas): Schema | undefined {
  const { data, has_more } = (schema && schemas.resolve(schema).properties) ?? {};
  return data && has_more && (schemas.resolve(data).items ?? {});
}

function renderLoop(item: string, call: string, path: string, options: object | undefined): string {
  const all = item === "event" ? "events" : "list";
  const start = renderCall(`const ${all} = ${call}`, JSON.stringify(path), options);
  return `${start};\nfor await (const ${item} of ${all}) {\n${INDENT}console.log(${item});\n}`;
}

function renderTextRequest({ operation }: ExampleRequest, options: object | undefined): string {
  const target = `${JSON.stringify(operation.method)}, ${JSON.stringify(operation.path)}`;
  const call = renderCall(`const response = await ${CLIENT}.request`, target, options);
  return `${call};\nconsole.log(await response.text());`;
}

function renderOptions({ operation, pathParameters, query, headers, body }: ExampleRequest) {
  const { credential, sendsText } = operation;
  const parameters = {
    path: pathParameters,
    query,
    headers: { ...bearer(credential), ...headers },
  };
  const options: Record<string, unknown> = Object.fromEntries(
    Object.entries(parameters).filter(([, values]) => Object.keys(values).length > 0),
  );
  if (body !== undefined) options["body"] = body;
  if (sendsText) options["body"] = "one line\n";
  return Object.keys(options).length === 0 ? undefined : options;
}

/** The client sends keys in `x-api-key` only. */
function bearer(credential: Credential | undefined): Record<string, unknown> {
  if (!credential || isSentByCli(credential)) return {};
  const variable = credentialVariable(credential);
  if (credential.isCookie) {
    const [name, value] = credential.header(`\${process.env["${variable}"]}`).split(": ");
    return { [String(name)]: new Code(`\`${value}\``), "sec-fetch-site": "same-origin" };
  }
  return { authorization: new Code(`\`Bearer \${process.env["${variable}"]}\``) };
}

/** A part of a literal that is code, not a value. */
class Code {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function renderCall(start: string, target: string, options: object | undefined): string {
  if (!options) {
    const line = `${start}(${target})`;
    return line.length <= MAX_LINE ? line : `${start}(\n${INDENT}${target},\n)`;
  }
  const line = `${start}(${target}, {`;
  if (line.length <= MAX_LINE)
    return `${start}(${target}, ${renderLiteral(options, "", Infinity)})`;
  const parts = [target, renderLiteral(options, INDENT, Infinity)];
  return `${start}(\n${parts.map((part) => `${INDENT}${part},\n`).join("")})`;
}

/**
 * On one line if it fits, as a formatter does.
 * @param column How many characters of the line precede the value.
 */
function renderLiteral(value: unknown, indent: string, column: number): string {
  if (value instanceof Code) return value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const deeper = indent + INDENT;
  const parts = Object.entries(value).map(([name, each]) => {
    const key = isList ? "" : `${renderKey(name)}: `;
    return key + renderLiteral(each, deeper, deeper.length + key.length);
  });
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  const padding = isList || parts.length === 0 ? "" : " ";
  const line = `${open}${padding}${parts.join(", ")}${padding}${close}`;
  if (!line.includes("\n") && column + line.length < MAX_LINE) return line;
  return `${open}\n${parts.map((part) => `${deeper}${part},\n`).join("")}${indent}${close}`;
}

function renderKey(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key);
}

/** "ownedProject" for the schema `OwnedProject`. */
function nameOf({ $ref, allOf = [] }: Schema): string {
  const name = ($ref ?? allOf[0]?.$ref)?.split("/").at(-1) ?? "Result";
  return name.charAt(0).toLowerCase() + name.slice(1);
}
