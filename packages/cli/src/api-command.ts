import { parseArgs } from "node:util";
import { ApiError, createClient, LongshoreError } from "../../client/src/index.ts";
import { CliError, UsageError } from "./errors.ts";
import { type Field, type Json, parseField, select, toBody, toQuery, toText } from "./fields.ts";

export const API_USAGE = `Usage: longshore api METHOD PATH [NAME=TEXT | NAME:=JSON]... [--field PATH]... [-i]

Sends a request with the API key in LONGSHORE_API_KEY to the address in LONGSHORE_URL, and prints the
response. The fields become the JSON body, or the query of a GET. Each --field prints one value
of the response, such as id or data.0.name. An error is printed to stderr, with the exit code 1.
-i (--include) also prints the status and the headers of the response.

  longshore api POST /v1/projects name=storefront --field id
  longshore api GET /v1/projects limit=10 sort_by=+created_at
  longshore api PUT /v1/projects/$PROJECT_ID/members/$MEMBER_ID role=contributor
  longshore api POST /v1/environments/$ENVIRONMENT_ID/stacks name=web component_id:=null`;

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const RETRIES = 3;

interface Request {
  method: string;
  path: string;
  fields: Field[];
}

/** Sends the request of the command line, and prints the response. */
export async function runApi(args: string[], environment: NodeJS.Dict<string>): Promise<void> {
  const { values, positionals } = parse(args);
  if (values.help) return console.log(API_USAGE);
  const request = readRequest(positionals);
  const response = await send(request, environment).catch((error: unknown) => {
    if (values.include && error instanceof ApiError) console.log(renderHead(error));
    throw error instanceof ApiError ? new CliError(describeError(error)) : error;
  });
  const json = await readBody(response);
  if (values.include) console.log(renderHead(response));
  if (values.field.length > 0) {
    const texts = values.field.map((path) => toText(requireField(json, path)));
    return console.log(texts.join("\n"));
  }
  if (json !== undefined) console.log(JSON.stringify(json, null, 2));
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        include: { type: "boolean", short: "i", default: false },
        field: { type: "string", multiple: true, default: [] },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), API_USAGE);
  }
}

function readRequest([verb = "", path = "", ...fields]: string[]): Request {
  const method = verb.toUpperCase();
  if (!METHODS.includes(method)) {
    throw new UsageError(`Start with a method: ${METHODS.join(", ")}.`, API_USAGE);
  }
  if (!path.startsWith("/")) {
    throw new UsageError("After the method, name a path such as /v1/projects.", API_USAGE);
  }
  return { method, path, fields: fields.map(parseField) };
}

async function send(request: Request, environment: NodeJS.Dict<string>): Promise<Response> {
  const { method, path, fields } = request;
  const url = readUrl(environment);
  const longshore = createClient({ url, apiKey: readKey(environment), retries: RETRIES });
  const isRead = method === "GET";
  const hasBody = !isRead && (method !== "DELETE" || fields.length > 0);
  try {
    // A brace would begin a parameter of the client.
    return await longshore.request(method, path.replaceAll("{", "%7B"), {
      ...(isRead && { query: groupByName(toQuery(fields)) }),
      ...(hasBody && { body: toBody(fields), headers: { "content-type": "application/json" } }),
    });
  } catch (error) {
    if (!(error instanceof LongshoreError) || error instanceof ApiError) throw error;
    throw new CliError(
      `${new URL(url).origin} does not respond: ${error.message}. Is LONGSHORE_URL right?`,
    );
  }
}

function groupByName(pairs: Iterable<[string, string]>): Record<string, string[]> {
  const grouped: Record<string, string[]> = {};
  for (const [name, text] of pairs) grouped[name] = [...(grouped[name] ?? []), text];
  return grouped;
}

function readUrl({ LONGSHORE_URL: text = "" }: NodeJS.Dict<string>): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Without credentials, a query and a fragment.
  const isPlain = url?.href === `${url?.origin}${url?.pathname}`;
  if (url && isPlain && /^https?:$/.test(url.protocol)) return url.href;
  throw new CliError(
    "Set LONGSHORE_URL to the address of the API, such as http://localhost:8787 for npm start.",
  );
}

function readKey({ LONGSHORE_API_KEY: key = "" }: NodeJS.Dict<string>): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new CliError("Set LONGSHORE_API_KEY to an API key (lsh_…). npm start prints one.");
}

/** Undefined if there is no body. */
async function readBody(response: Response): Promise<Json | undefined> {
  const text = await response.text();
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(
      `${response.url} did not return JSON (status ${response.status}). Is it the address of a Longshore API?`,
    );
  }
}

function renderHead({ status, headers }: Response | ApiError): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  return [`HTTP ${status}`, ...lines, ""].join("\n");
}

function describeError({ code, status, message, cause, requestId }: ApiError): string {
  const issues = cause && "issues" in cause ? cause.issues : [];
  const lines = issues.map((issue) => `  ${issue.path || "body"}: ${issue.message}`);
  const where = requestId ? `, request ${requestId}` : "";
  return [`${message} (${code}, status ${status}${where})`, ...lines].join("\n");
}

function requireField(json: Json | undefined, path: string): Json {
  const value = json === undefined ? undefined : select(json, path);
  if (value !== undefined) return value;
  throw new CliError(`The response has no field ${path}. Omit --field to see the response.`);
}
