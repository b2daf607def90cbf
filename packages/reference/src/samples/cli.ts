import type { Credential } from "../contract.ts";
import { type ExampleRequest, queryOf } from "./request.ts";
import { credentialVariable, joinArguments, MAX_LINE, quote } from "./shell.ts";

/** Undefined if `longshore api` cannot send the request, or cannot print the response. */
export function renderCli(request: ExampleRequest): string | undefined {
  const { operation, path, query, headers, body } = request;
  const { method, credential, replies } = operation;
  const types = replies.flatMap(({ mediaType }) => mediaType ?? []);
  const isRedirect = replies.some(({ status }) => status === "303");
  const isJson = !isRedirect && types.every((type) => type === "application/json");
  if (!isJson || operation.sendsText || Object.keys(headers).length > 0) return undefined;
  if (credential && !isSentByCli(credential)) return undefined;
  const isRead = method === "GET";
  const start = `longshore api ${method}`;
  const target = quote(isRead ? path : path + queryOf(request));
  const line = `${start} ${target}`;
  const parts = line.length <= MAX_LINE ? [line] : [start, target];
  if (credential && credential.id !== "api_key") {
    parts.unshift(`LONGSHORE_API_KEY="$${credentialVariable(credential)}"`);
  }
  const fields = isRead ? query : (body ?? {});
  parts.push(...Object.entries(fields).map(([name, value]) => quote(renderField(name, value))));
  return joinArguments(parts);
}

/** It sends keys and tokens in `x-api-key` only. */
export function isSentByCli({ header }: Credential): boolean {
  return header("").startsWith("x-api-key");
}

function renderField(name: string, value: unknown): string {
  if (typeof value === "string") return `${name}=${value}`;
  const line = `${name}:=${JSON.stringify(value)}`;
  return line.length <= MAX_LINE ? line : `${name}:=${JSON.stringify(value, null, 2)}`;
}
