import { hostname } from "node:os";
import { basename } from "node:path";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { type Credential, ExchangedToken, StaticToken } from "./credential.ts";
import { CommandEnvironment, REFUSED_CLASSES } from "./environment.ts";
import { RunnerError } from "./errors.ts";
import type { Executor } from "./executors/executor.ts";
import { EXECUTORS } from "./executors/list.ts";
import { readRepositories } from "./executors/repositories.ts";
import type { ExecutorOptions } from "./executors/stack-plans.ts";
import { commandIdToken, GITHUB_VARIABLES, githubIdToken } from "./id-token.ts";
import { readTokenDescriptor, readTokenFile } from "./token.ts";

/** What `longshore init` has stored for the folder. */
export interface StoredToken {
  /** The token is sent only there. */
  url: string;
  token: string;
}

export interface Options extends ExecutorOptions {
  /** The origin of the API, without a trailing slash. */
  url: string;
  credential: Credential;
  /** What people see of this runner. */
  description: { name: string; version: string };
  /** Exits after one deployment. */
  once: boolean;
  /** Claims no other one. */
  deploymentId: string | undefined;
  /** How many stacks of a deployment run at once, as far as they do not need each other. */
  parallel: number;
  /** Time between SIGTERM and SIGKILL. */
  graceMs: number;
  environment: CommandEnvironment;
  /** Whether checkouts get the files of Git LFS. */
  hasLfs: boolean;
}

/**
 * The server ends a deployment 120 s after its cancellation and may then offer the next one. A runner
 * without contact stops its command after its lease of 60 s, so the grace period must be below 60 s.
 */
export const MAXIMUM_GRACE_SECONDS = 45;
export const DEFAULT_GRACE_SECONDS = 30;
/** Each stack has a program, a checkout and reports of its own. */
export const MAXIMUM_PARALLEL = 20;
const MAXIMUM_NAME_LENGTH = 100;

/** As the user has started it: the command of the command line, or the program of this package. */
const PROGRAM = basename(process.argv[1] ?? "").startsWith("longshore-runner")
  ? "longshore-runner"
  : "longshore runner";

const SYNOPSIS =
  "--url URL (--exec COMMAND | --executor NAME)\n" +
  "       (--token-file PATH | --token-fd N | --oidc-org ID) [options]";

export const USAGE = `Usage: ${PROGRAM} ${SYNOPSIS}\n` + `${PROGRAM} --help describes the options.`;

export const HELP = `Usage: ${PROGRAM} ${SYNOPSIS}

Claims the deployments of a runner pool, and runs a command for each stack of them.

  --url URL                     The URL of the API
What deploys a stack, at least one of these. docs/executors.md describes them:
  --exec COMMAND                What the shell runs for each stack whose configuration names no executor. It gets
                                files and variables that say what to deploy, and reports what it has deployed
  --executor NAME               What stacks may name in the configuration. Repeat it for each of:
                                ${EXECUTORS.map(({ name }) => name).join(", ")}
  --repository NAME             A repository whose files an executor may run, such as github:acme/shop, or its URL with
                                https, ssh or file. A name with = and a URL is fetched from there. Repeat it for each
  --backend-allow NAME          What configurations may set of a backend of the executor terraform, such as path,
                                besides where in a store the state is. Repeat it for each
  --lfs                         Fetches their files of Git LFS, too, with git-lfs
Who the runner is, one of these. With none, longshore runner uses the URL and the token that longshore init has
stored for the folder:
  --token-file PATH             The file with the token of the pool, which no other user can read
  --token-fd N                  The descriptor with the token: 0, or 3 and above
  --oidc-org ID                 The organization with which it exchanges tokens of its CI job
      --oidc-audience TEXT      Their audience. Default: the URL of the API
      --oidc-token-command COMMAND
                                What prints a new one each time. Not needed in GitHub Actions
  --name NAME                   Its name in the list of the pool's runners. Default: that of this machine
What the command gets:
  --pass-env NAME               A variable of the runner's environment, whose value the log masks from 8 characters
                                on. Repeat it for each
  --show-env NAME               The same, but the log shows the value, such as that of AWS_REGION. Repeat it for each
  --allow-variable NAME         A variable of the deployment with a refused name. Repeat it for each
  --allow-variables CLASS       All refused names of a class. Repeat it for each class of:
${listClasses()}
How it runs:
  --once                        Exits after one deployment: with 0 if it has succeeded, otherwise with 1
  --deployment ID               With --once: waits for its turn, and exits with its outcome. It claims no other one
  --parallel N                  How many stacks of a deployment run at once, as far as they do not need each other, at
                                most ${MAXIMUM_PARALLEL}. Default: 1
  --grace SECONDS               Between SIGTERM and SIGKILL, at most ${MAXIMUM_GRACE_SECONDS}. Default: ${DEFAULT_GRACE_SECONDS}
  --help                        Prints this
`;

function listClasses(): string {
  const half = Math.ceil(REFUSED_CLASSES.length / 2);
  return [REFUSED_CLASSES.slice(0, half), REFUSED_CLASSES.slice(half)]
    .map((names) => `${" ".repeat(32)}${names.join(", ")}`)
    .join(",\n");
}

export function readOptions(
  args: readonly string[],
  environment: NodeJS.Dict<string>,
  stored?: StoredToken,
): Options {
  if (environment["LONGSHORE_RUNNER_TOKEN"]) {
    throw new RunnerError(
      "Unset LONGSHORE_RUNNER_TOKEN: other processes can read the runner's environment. Write the " +
        "token to a file that only this user can read, and pass --token-file PATH or --token-fd N.",
      2,
    );
  }
  const values = parse(args);
  const executors = readExecutors(values);
  const isStored = stored !== undefined && CREDENTIALS.every((name) => values[name] === undefined);
  const url = isStored ? readStoredUrl(values.url, stored) : readUrl(values.url);
  return {
    url,
    description: { name: readName(values), version: manifest.version },
    command: values.exec,
    executors,
    repositories: readRepositories(values.repository),
    backendMembers: readBackendMembers(values),
    hasLfs: values.lfs,
    once: values.once,
    deploymentId: readDeployment(values),
    parallel: readParallel(values.parallel),
    graceMs: readGrace(values.grace) * 1000,
    environment: new CommandEnvironment(environment, {
      passed: values["pass-env"],
      shown: values["show-env"],
      allowed: values["allow-variable"],
      allowedClasses: values["allow-variables"],
    }),
    credential: isStored ? new StaticToken(stored.token) : readCredential(url, values, environment),
  };
}

/** Each says who the runner is. */
const CREDENTIALS = [
  "token-file",
  "token-fd",
  "oidc-org",
  "oidc-audience",
  "oidc-token-command",
] as const;

export const OPTIONS = {
  url: { type: "string", default: "" },
  "token-file": { type: "string" },
  "token-fd": { type: "string" },
  "oidc-org": { type: "string" },
  "oidc-audience": { type: "string" },
  "oidc-token-command": { type: "string" },
  name: { type: "string" },
  exec: { type: "string" },
  executor: { type: "string", multiple: true, default: [] },
  repository: { type: "string", multiple: true, default: [] },
  "backend-allow": { type: "string", multiple: true, default: [] },
  lfs: { type: "boolean", default: false },
  "pass-env": { type: "string", multiple: true, default: [] },
  "show-env": { type: "string", multiple: true, default: [] },
  "allow-variable": { type: "string", multiple: true, default: [] },
  "allow-variables": { type: "string", multiple: true, default: [] },
  once: { type: "boolean", default: false },
  deployment: { type: "string" },
  parallel: { type: "string", default: "1" },
  grace: { type: "string", default: String(DEFAULT_GRACE_SECONDS) },
} satisfies ParseArgsOptionsConfig;

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: OPTIONS,
    });
    return values;
  } catch (error) {
    throw new RunnerError(`${error instanceof Error ? error.message : error}\n${USAGE}`, 2);
  }
}

type Values = ReturnType<typeof parse>;

function readExecutors({ exec, executor: names, repository: repositories }: Values): Executor[] {
  if (!exec && names.length === 0) {
    throw new RunnerError(
      "Set --exec to the command that deploys a stack, or --executor to what the configuration may name." +
        `\n${USAGE}`,
      2,
    );
  }
  const executors = names.map((name) => {
    const executor = EXECUTORS.find((each) => each.name === name);
    if (executor) return executor;
    const known = EXECUTORS.map((each) => each.name).join(", ");
    throw new RunnerError(`There is no executor "${name}". Set --executor to one of: ${known}.`, 2);
  });
  if (executors.length === 0 || repositories.length > 0) return executors;
  throw new RunnerError(
    `Add --repository NAME: --executor runs files of the repositories that you name.\n${USAGE}`,
    2,
  );
}

function readBackendMembers({ "backend-allow": names }: Values): readonly string[] {
  const wrong = names.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (wrong === undefined) return names;
  throw new RunnerError(
    `Set --backend-allow to the name of one setting of a backend, such as path; "${wrong}" is none.\n${USAGE}`,
    2,
  );
}

function readCredential(url: string, values: Values, environment: NodeJS.Dict<string>): Credential {
  const { "token-file": file, "token-fd": descriptor, "oidc-org": organizationId } = values;
  if (organizationId === undefined) {
    if (values["oidc-audience"] === undefined && values["oidc-token-command"] === undefined) {
      return new StaticToken(readToken(file, descriptor));
    }
    throw new RunnerError(`Set --oidc-org to the ID of the organization.\n${USAGE}`, 2);
  }
  if (file !== undefined || descriptor !== undefined) {
    throw new RunnerError(`Set either --oidc-org, or a token: not both.\n${USAGE}`, 2);
  }
  return new ExchangedToken({
    url,
    organizationId,
    requestIdToken: readIdTokenSource(url, values, environment),
    type: "runner_token",
    warn: (message) => console.error(message),
  });
}

function readIdTokenSource(
  url: string,
  { "oidc-audience": audience = url, "oidc-token-command": command, ...values }: Values,
  environment: NodeJS.Dict<string>,
): () => Promise<string> {
  const options = (["pass-env", "show-env"] as const).flatMap((option) =>
    values[option].map((name) => ({ option, name })),
  );
  const secret = options.find(({ name }) => GITHUB_VARIABLES.some((each) => each === name));
  if (secret !== undefined) {
    throw new RunnerError(
      `Leave out --${secret.option} ${secret.name}: with it, the command could pose as the runner.`,
      2,
    );
  }
  if (command !== undefined) return commandIdToken(command);
  const github = githubIdToken(environment, audience);
  if (github) return github;
  throw new RunnerError(
    "Set --oidc-token-command to a command that prints a token of the CI system. In a job of GitHub " +
      "Actions, give the job the permission `id-token: write` instead.",
    2,
  );
}

function readToken(file: string | undefined, descriptor: string | undefined): string {
  if (file !== undefined && descriptor === undefined) return readTokenFile(file);
  // 1 and 2 are the runner's output.
  if (file === undefined && /^(0|[3-9]|[1-9]\d+)$/.test(descriptor ?? "")) {
    return readTokenDescriptor(Number(descriptor));
  }
  throw new RunnerError(
    "Set either --token-file to a file with the token of a runner pool (lsr_…), or --token-fd to a " +
      `descriptor: 0, or 3 and above, or --oidc-org for a job of a CI system.\n${USAGE}`,
    2,
  );
}

function readDeployment({ deployment, once }: Values): string | undefined {
  if (deployment === undefined || once) return deployment;
  throw new RunnerError(`Add --once: --deployment is for one run.\n${USAGE}`, 2);
}

function readName({ name = hostname().slice(0, MAXIMUM_NAME_LENGTH) || "runner" }: Values): string {
  if (name.length <= MAXIMUM_NAME_LENGTH && name.trim() !== "" && !/\p{Cc}/u.test(name))
    return name;
  throw new RunnerError(
    `Set --name to one line of 1 to ${MAXIMUM_NAME_LENGTH} characters.\n${USAGE}`,
    2,
  );
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, "");
  throw new RunnerError(`Set --url to the URL of the API; "${text}" is not one.\n${USAGE}`, 2);
}

function readStoredUrl(given: string, { url }: StoredToken): string {
  if (given === "" || readUrl(given) === readUrl(url)) return readUrl(url);
  throw new RunnerError(
    `The token that longshore init has stored for this folder is for ${url}. Leave out --url, or ` +
      "pass another token with --token-file PATH.",
    2,
  );
}

function readParallel(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MAXIMUM_PARALLEL) return count;
  throw new RunnerError(`Set --parallel to 1 to ${MAXIMUM_PARALLEL} stacks.\n${USAGE}`, 2);
}

function readGrace(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds <= MAXIMUM_GRACE_SECONDS) return seconds;
  throw new RunnerError(`Set --grace to 0 to ${MAXIMUM_GRACE_SECONDS} seconds.\n${USAGE}`, 2);
}
