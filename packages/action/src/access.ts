import { CliError, ExitCode } from "../../cli/src/errors.ts";
import type { Fetch } from "../../client/src/index.ts";
import {
  type Credential,
  ExchangedToken,
  StaticToken,
  TransientError,
} from "../../runner/src/credential.ts";
import { RunnerError } from "../../runner/src/errors.ts";
import { githubIdToken } from "../../runner/src/id-token.ts";
import { createFetch } from "../../runner/src/proxies.ts";
import type { Inputs } from "./inputs.ts";
import type { Job } from "./job.ts";

const TRIES = 5;
const PAUSE_MS = 1_000;

/** The API key of the inputs, or those that the tokens of the job are exchanged for. */
export function createCredential(inputs: Inputs, job: Job): Credential {
  const { url, apiKey, organizationId, audience } = inputs;
  if (apiKey !== undefined) return new StaticToken(apiKey);
  if (organizationId === undefined) {
    throw new CliError(
      "Set the input org-id, for a trust that accepts the token of the job, or the input api-key.",
    );
  }
  const requestIdToken = githubIdToken(job.environment, audience);
  if (!requestIdToken) {
    throw new CliError(
      "The job cannot request a token. Give it the permission `id-token: write`, or set api-key.",
    );
  }
  const warn = (message: string) => job.annotate("warning", message);
  return new ExchangedToken({ url, organizationId, requestIdToken, type: "api_key", warn });
}

/** Sends each request with a key that is valid now. Deployments take longer than a key is valid. */
export class KeyedFetch {
  readonly #credential: Credential;
  readonly #job: Job;
  readonly #send: Fetch;
  #key = "";

  constructor(credential: Credential, job: Job) {
    this.#credential = credential;
    this.#job = job;
    this.#send = createFetch(job.environment);
  }

  /** Gets the first key. @throws CliError if there is none. */
  async open(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#read();
        return;
      } catch (error) {
        if (error instanceof TransientError && tries < TRIES) {
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries));
          continue;
        }
        throw describeRefusal(error);
      }
    }
  }

  readonly fetch: Fetch = async (url, init) => {
    // Without a new key, the service says what is wrong with the last one.
    await this.#read().catch(ignoreRefusal);
    const key = this.#key;
    const response = await this.#send(url, withKey(init, key));
    if (response.status !== 401 || !this.#credential.renew(key)) return response;
    await this.#read().catch(ignoreRefusal);
    if (this.#key === key) return response;
    await response.body?.cancel();
    return this.#send(url, withKey(init, this.#key));
  };

  async #read(): Promise<void> {
    const key = await this.#credential.token();
    if (key !== this.#key) this.#job.mask(key);
    this.#key = key;
  }
}

function withKey(init: RequestInit, key: string): RequestInit {
  return { ...init, headers: { ...(init.headers as Record<string, string>), "x-api-key": key } };
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof RunnerError)) throw error;
}

function describeRefusal(error: unknown): unknown {
  if (error instanceof TransientError) {
    return new CliError(`There is no key for the job: ${error.message}`, ExitCode.unreachable);
  }
  if (!(error instanceof RunnerError)) return error;
  return new CliError(
    `No trust accepts the token of the job: ${error.message}. See docs/ci.md of Longshore.`,
  );
}
