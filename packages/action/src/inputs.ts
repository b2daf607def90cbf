import { readKey, readUrl } from "../../cli/src/connection.ts";
import { parseDuration } from "../../cli/src/deployments/duration.ts";
import { CliError } from "../../cli/src/errors.ts";
import { requireExactNumbers } from "../../cli/src/exact-json.ts";

type PatchOperations = Record<string, unknown>[];

/** The inputs of action.yml. */
export interface Inputs {
  /** Without a slash at its end. */
  url: string;
  apiKey: string | undefined;
  /** The organization whose trust accepts the token of the job. */
  organizationId: string | undefined;
  audience: string;
  project: string | undefined;
  environment: string;
  patch: PatchOperations | undefined;
  /** A full hash, instead of the commit of the event. */
  commit: string | undefined;
  image: string | undefined;
  /** Names and IDs. Undefined: all. */
  stacks: string[] | undefined;
  reason: string | undefined;
  wait: boolean;
  timeoutMs: number | undefined;
}

/** @throws CliError for an input that is missing or wrong. */
export function readInputs(environment: NodeJS.Dict<string>): Inputs {
  // GitHub sets an input that is not given to the empty text.
  const read = (name: string) => environment[`INPUT_${name.toUpperCase()}`]?.trim() || undefined;
  const url = readUrl(requireInput("url", read("url")), "The input url").replace(/\/$/, "");
  const apiKey = read("api-key");
  const timeout = read("timeout");
  return {
    url,
    apiKey: apiKey && readKey(apiKey, "The input api-key"),
    organizationId: read("org-id"),
    audience: read("audience") ?? url,
    project: read("project"),
    environment: requireInput("environment", read("environment")),
    patch: readPatch(read("patch")),
    commit: read("commit"),
    image: read("image"),
    stacks: readLines(read("stacks")),
    reason: read("reason") ?? runUrl(environment),
    wait: readBoolean("wait", read("wait") ?? "true"),
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
  };
}

function requireInput(name: string, value: string | undefined): string {
  if (value !== undefined) return value;
  throw new CliError(`The input ${name} is missing.`);
}

function readPatch(text: string | undefined): PatchOperations | undefined {
  if (text === undefined) return undefined;
  const operations = parseJson(text);
  if (Array.isArray(operations)) {
    requireExactNumbers(text, "The input patch");
    return operations;
  }
  throw new CliError(
    'The input patch must be a JSON Patch, such as [{"op":"replace","path":"/replicas","value":3}].',
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readLines(text: string | undefined): string[] | undefined {
  return text
    ?.split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** The booleans of YAML 1.2. */
function readBoolean(name: string, text: string): boolean {
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)$/.test(text)) return false;
  throw new CliError(`The input ${name} must be true or false.`);
}

/** The page of the run, for those who find the deployment in the audit log. */
function runUrl(environment: NodeJS.Dict<string>): string | undefined {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID } = environment;
  if (!GITHUB_SERVER_URL || !GITHUB_REPOSITORY || !GITHUB_RUN_ID) return undefined;
  return `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`;
}
