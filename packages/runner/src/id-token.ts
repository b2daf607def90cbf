import { execFile } from "node:child_process";
import { TransientError } from "./credential.ts";
import { RunnerError } from "./errors.ts";
import { createFetch, UnreachableError } from "./proxies.ts";

const TIMEOUT_MS = 30_000;
const MAXIMUM_BYTES = 64 * 1024;
const JSON_WEB_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The variables with which a job of GitHub Actions requests tokens. */
export const GITHUB_VARIABLES = [
  "ACTIONS_ID_TOKEN_REQUEST_URL",
  "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
] as const;

/** Requests a token of GitHub Actions. Undefined outside of a job with `id-token: write`. */
export function githubIdToken(
  environment: NodeJS.Dict<string>,
  audience: string,
): (() => Promise<string>) | undefined {
  const [url, secret] = GITHUB_VARIABLES.map((name) => environment[name]);
  if (!url || !secret || !URL.canParse(url)) return undefined;
  const request = new URL(url);
  request.searchParams.set("audience", audience);
  return async () => {
    let reason = "no response";
    const response = await createFetch(environment)(request, {
      headers: { authorization: `Bearer ${secret}`, accept: "application/json" },
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      if (error instanceof UnreachableError) reason = error.message;
      return undefined;
    });
    const body = (await response?.json().catch(() => undefined)) as { value?: unknown } | undefined;
    if (response?.status === 200) return readToken(body?.value, "GitHub Actions");
    throw new TransientError(`GitHub Actions gave no token: ${response?.status ?? reason}.`);
  };
}

/** Runs a command of the operator, which prints a token. It has the runner's own environment. */
export function commandIdToken(command: string): () => Promise<string> {
  return () =>
    new Promise((resolve, reject) => {
      const [shell, option] = process.platform === "win32" ? ["cmd.exe", "/c"] : ["/bin/sh", "-c"];
      const options = { timeout: TIMEOUT_MS, maxBuffer: MAXIMUM_BYTES };
      execFile(shell, [option, command], options, (error, stdout) => {
        // Node's message contains the command, and may contain its output.
        if (error) {
          const reason = typeof error.code === "number" ? `ended with ${error.code}` : "failed";
          return reject(new TransientError(`The command of --oidc-token-command ${reason}.`));
        }
        try {
          resolve(readToken(stdout.trim(), "The command of --oidc-token-command"));
        } catch (invalid) {
          reject(invalid);
        }
      });
    });
}

function readToken(value: unknown, source: string): string {
  if (typeof value === "string" && JSON_WEB_TOKEN.test(value)) return value;
  throw new RunnerError(`${source} gave no JSON Web Token.`, 2);
}
