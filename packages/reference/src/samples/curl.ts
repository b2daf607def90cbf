import { ORIGIN } from "../../../../src/http/page-files.ts";
import { type ExampleRequest, queryOf } from "./request.ts";
import { credentialVariable, joinArguments, quote } from "./shell.ts";

export function renderCurl(request: ExampleRequest): string {
  const { operation, path, headers, body } = request;
  const { method, credential, sendsText } = operation;
  const address = `"${ORIGIN}${path}${queryOf(request)}"`;
  const parts = method === "GET" ? [`curl ${address}`] : [`curl --request ${method}`, address];
  if (credential) {
    parts.push(`--header "${credential.header(`$${credentialVariable(credential)}`)}"`);
  }
  if (credential?.isCookie && method !== "GET") {
    parts.push(`--header "sec-fetch-site: same-origin"`);
  }
  for (const [name, value] of Object.entries(headers)) {
    parts.push(`--header ${quote(`${name}: ${value}`)}`);
  }
  if (body !== undefined) {
    parts.push(`--header "content-type: application/json"`);
    parts.push(`--data ${quote(JSON.stringify(body, null, 2))}`);
  }
  if (sendsText) parts.push(`--header "content-type: text/plain"`, "--data-binary @output.txt");
  return joinArguments(parts);
}
