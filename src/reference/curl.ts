import type { Credential, Operation, Parameter } from "./contract.ts";
import { exampleOf } from "./example.ts";
import type { Schemas } from "./schemas.ts";

/** The command uses the shell variables of `renderSettings`. */
export function renderCurl(operation: Operation, schemas: Schemas): string {
  const { method, credential, parameters, body, sendsText } = operation;
  const address = `"$LONGSHORE_URL${pathAndQuery(operation, schemas)}"`;
  const lines = method === "GET" ? [`curl ${address}`] : [`curl --request ${method}`, address];
  if (credential) {
    lines.push(`--header "${credential.header(`$${credentialVariable(credential)}`)}"`);
  }
  for (const { name, required, in: location } of parameters) {
    if (location === "header" && required) lines.push(`--header "${name}: ${shellVariable(name)}"`);
  }
  if (body) {
    const json = JSON.stringify(exampleOf(body.schema, schemas, true), null, 2);
    lines.push(`--header "content-type: application/json"`);
    lines.push(`--data '${json.replaceAll("'", "'\\''")}'`);
  }
  if (sendsText) {
    lines.push(`--header "content-type: text/plain"`);
    lines.push("--data-binary @output.txt");
  }
  return lines.join(" \\\n  ");
}

export function renderSettings(credentials: readonly Credential[]): string {
  const names = ["LONGSHORE_URL", ...credentials.map(credentialVariable)];
  return names.map((name) => `export ${name}="…"`).join("\n");
}

function credentialVariable({ id }: Credential): string {
  return `LONGSHORE_${id.toUpperCase()}`;
}

function pathAndQuery({ path, parameters }: Operation, schemas: Schemas): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    return parameterValue(
      parameters.find((each) => each.name === name) ?? { name, in: "path" },
      schemas,
    );
  });
  const query = parameters
    .filter((each) => each.in === "query" && each.required)
    .map((each) => `${each.name}=${parameterValue(each, schemas)}`);
  return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
}

function parameterValue({ name, schema }: Parameter, schemas: Schemas): string {
  const example = schema && schemas.resolve(schema).example;
  return example === undefined ? shellVariable(name) : encodeURIComponent(String(example));
}

function shellVariable(name: string): string {
  return `$${name.toUpperCase().replaceAll(/\W/g, "_")}`;
}
