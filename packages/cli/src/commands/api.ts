import type { Command } from "commander";
import { ApiError } from "../../../client/src/index.ts";
import { CliError } from "../errors.ts";
import {
  type Field,
  type Json,
  parseField,
  select,
  toBody,
  toQuery,
  toText,
} from "../request-fields.ts";
import { type CliContext, openSession, type Session } from "../session.ts";

interface Options {
  field: string[];
  include?: boolean;
  paginate?: boolean;
  profile?: string;
}

interface Request {
  method: string;
  path: string;
  fields: Field[];
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const EXAMPLES = `
The fields become the JSON body, or the query of a GET.

Examples:
  $ longshore api POST /v1/projects name=storefront --field id
  $ longshore api GET /v1/projects limit=10 sort_by=+created_at
  $ longshore api GET /v1/projects --paginate --field name
  $ longshore api PUT /v1/projects/$PROJECT_ID/members/$MEMBER_ID role=contributor
  $ longshore api POST /v1/environments/$ENVIRONMENT_ID/stacks name=web component_id:=null`;

/** `longshore api`: any request. */
export function addApiCommand(program: Command, context: CliContext): void {
  program
    .command("api")
    .description("send a request to the API and print its response")
    .argument("<method>", METHODS.join(", "))
    .argument("<path>", "such as /v1/projects")
    .argument("[fields...]", "name=text or name:=json")
    .option(
      "--field <path>",
      "print this value of the response, such as id; may be repeated",
      collect,
      [],
    )
    .option("-i, --include", "also print the status and the headers of the response")
    .option("--paginate", "read all pages of a list, and print each record")
    .addHelpText("after", EXAMPLES)
    .action(async (verb: string, path: string, texts: string[], _, command: Command) => {
      const request = readRequest(verb, path, texts);
      const options = command.optsWithGlobals<Options>();
      const sent = options.field.find((each) => each.includes("="));
      if (sent !== undefined) {
        throw new CliError(`--field prints a value of the response. Send ${sent} without --field.`);
      }
      const session = await openSession(context, options);
      if (options.paginate) await printRecords(context, session, request, options);
      else await printResponse(context, session, request, options);
    });
}

function collect(value: string, values: string[]): string[] {
  return [...values, value];
}

function readRequest(verb: string, path: string, texts: readonly string[]): Request {
  const method = verb.toUpperCase();
  if (!METHODS.includes(method)) {
    throw new CliError(`Start with a method: ${METHODS.join(", ")}.`);
  }
  if (!path.startsWith("/")) {
    throw new CliError("After the method, name a path such as /v1/projects.");
  }
  // A brace would begin a parameter of the client.
  return { method, path: path.replaceAll("{", "%7B"), fields: texts.map(parseField) };
}

async function printResponse(
  { output }: CliContext,
  session: Session,
  request: Request,
  { field, include }: Options,
): Promise<void> {
  const response = await send(session, request).catch((error: unknown) => {
    if (include && error instanceof ApiError) output.print(renderHead(error));
    throw error;
  });
  const json = await readBody(response);
  if (include) output.print(renderHead(response));
  if (field.length > 0) output.printExactly(readFields(json, field));
  else if (json !== undefined) output.json(json);
}

/** A record in a line, or the fields of each. */
async function printRecords(
  { output }: CliContext,
  session: Session,
  { method, path, fields }: Request,
  { field, include }: Options,
): Promise<void> {
  if (method !== "GET") throw new CliError("--paginate reads a list: use it with GET.");
  if (include) throw new CliError("--paginate reads several responses: omit --include.");
  const query = groupByName(toQuery(fields));
  const records = session.client.list(path as "/v1/projects", { query });
  for await (const record of records) {
    const json = record as unknown as Json;
    if (field.length === 0) output.jsonLine(json);
    else output.printExactly(readFields(json, field));
  }
}

function send(session: Session, { method, path, fields }: Request): Promise<Response> {
  const isRead = method === "GET";
  const hasBody = !isRead && (method !== "DELETE" || fields.length > 0);
  return session.client.request(method, path, {
    ...(isRead && { query: groupByName(toQuery(fields)) }),
    ...(hasBody && { body: toBody(fields), headers: { "content-type": "application/json" } }),
  });
}

function groupByName(pairs: Iterable<[string, string]>): Record<string, string[]> {
  const grouped: Record<string, string[]> = {};
  for (const [name, text] of pairs) grouped[name] = [...(grouped[name] ?? []), text];
  return grouped;
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

/** A line for each, for programs. */
function readFields(json: Json | undefined, paths: readonly string[]): string {
  return paths.map((path) => `${toText(requireField(json, path))}\n`).join("");
}

function requireField(json: Json | undefined, path: string): Json {
  const value = json === undefined ? undefined : select(json, path);
  if (value !== undefined) return value;
  throw new CliError(`The response has no field ${path}. Omit --field to see the response.`);
}
