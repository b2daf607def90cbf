import type { GitSource } from "../api-types.ts";
import { RunnerError } from "../errors.ts";

const HOSTS: Readonly<Record<string, string>> = {
  github: "https://github.com",
  gitlab: "https://gitlab.com",
  bitbucket: "https://bitbucket.org",
};

/** Such as `github:acme/shop`, and the same with the URL of another host behind a `=`. */
const FORM = /^([a-z]+):([\w.-]+(?:\/[\w.-]+)+)(?:=(.+))?$/;

/** A repository that the operator trusts: its code runs as the runner's user. */
export interface Repository {
  /** As a source names it, in lower case. */
  name: string;
  url: string;
}

/** Reads the values of `--repository`. */
export function readRepositories(values: readonly string[]): Repository[] {
  return values.map((value) => {
    const [, provider = "", path = "", given] = FORM.exec(value) ?? [];
    const host = HOSTS[provider];
    if (host === undefined) {
      throw new RunnerError(
        `Set --repository to github:OWNER/NAME, gitlab:OWNER/NAME or bitbucket:OWNER/NAME; "${value}" is none. ` +
          "For a repository of another host, add = and its URL: github:acme/shop=https://git.example.com/shop.git.",
        2,
      );
    }
    const name = `${provider}:${path}`.toLowerCase();
    return { name, url: given === undefined ? `${host}/${path}.git` : readUrl(given) };
  });
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAllowed = url && ["https:", "file:"].includes(url.protocol);
  if (!isAllowed) {
    throw new RunnerError(
      `Set the URL of a --repository to one of https or file; "${text}" is none.`,
      2,
    );
  }
  // Other users of the machine can read the arguments of a process.
  if (url.username || url.password) {
    throw new RunnerError(
      "Leave out the user name and the password in the URL of --repository: a credential helper of " +
        "git gives them.",
      2,
    );
  }
  return url.href;
}

/** As `--repository` would name it. The hosts ignore the case of names. */
export function nameOfRepository({ provider = "", owner = "", repo = "" }: GitSource): string {
  return `${provider}:${owner}/${repo}`.toLowerCase();
}
