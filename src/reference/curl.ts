import type { Credential, Operation, Parameter } from "./contract.ts";
import { exampleOf } from "./example.ts";
import type { Schemas } from "./schemas.ts";

/** A curl command that works once `$LONGSHORE_URL` and the credential's variable are set. */
export function renderCurl(operation: Operation, schemas: Schemas): string {
  const { method, credential, parameters, body } = operation;
  const address = `"$LONGSHORE_URL${addressOf(operation, schemas)}"`;
  const lines = method === "GET" ? [`curl ${address}`] : [`curl --request ${method}`, address];
  if (credential) {
    lines.push(`--header "${credential.header(`$${variableOf(credential)}`)}"`);
  }
  for (const { name, required, in: place } of parameters) {
    if (place === "header" && required) lines.push(`--header "${name}: ${variable(name)}"`);
  }
  if (body) {
    const json = JSON.stringify(exampleOf(body.schema, schemas, true), null, 2);
    lines.push(`--header "content-type: application/json"`);
    lines.push(`--data '${json.replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n  ");
}

/** The shell variables of the commands, to be filled in. */
export function renderSettings(credentials: readonly Credential[]): string {
  const names = ["LONGSHORE_URL", ...credentials.map(variableOf)];
  return names.map((name) => `export ${name}="…"`).join("\n");
}

function variableOf({ id }: Credential): string {
  return `LONGSHORE_${id.toUpperCase()}`;
}

function addressOf({ path, parameters }: Operation, schemas: Schemas): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    return sendable(parameters.find((each) => each.name === name) ?? { name, in: "path" }, schemas);
  });
  const query = parameters
    .filter((each) => each.in === "query" && each.required)
    .map((each) => `${each.name}=${sendable(each, schemas)}`);
  return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
}

function sendable({ name, schema }: Parameter, schemas: Schemas): string {
  const example = schema && schemas.resolve(schema).example;
  return example === undefined ? variable(name) : encodeURIComponent(String(example));
}

function variable(name: string): string {
  return `$${name.toUpperCase().replaceAll(/\W/g, "_")}`;
}
