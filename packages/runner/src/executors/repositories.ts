import { parseRepositoryUrl, type RepositoryUrl } from "../../../../src/lib/repository-url.ts";
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
  /** What a source calls it: `github:acme/shop` in lower case, or the address of its URL. */
  name: string;
  url: string;
}

/** Reads the values of `--repository`. */
export function readRepositories(values: readonly string[]): Repository[] {
  return values.map((value) => {
    if (/^[a-z]+:\/\//i.test(value)) {
      const { href, address } = readUrl(value);
      return { name: address, url: href };
    }
    const [, provider = "", path = "", given] = FORM.exec(value) ?? [];
    const host = HOSTS[provider];
    if (host === undefined) {
      throw new RunnerError(
        `Set --repository to github:OWNER/NAME, gitlab:OWNER/NAME, bitbucket:OWNER/NAME or a URL; "${value}" is none. ` +
          "If one of these is on another host, add = and its URL: github:acme/shop=https://git.example.com/shop.git.",
        2,
      );
    }
    const name = `${provider}:${path}`.toLowerCase();
    return { name, url: given === undefined ? `${host}/${path}.git` : readUrl(given).href };
  });
}

function readUrl(text: string): RepositoryUrl {
  const url = parseRepositoryUrl(text);
  if (url) return url;
  const given = URL.canParse(text) ? new URL(text) : undefined;
  // Other users of the machine can read the arguments of a process.
  if (given?.password || (given?.username && given.protocol !== "ssh:")) {
    throw new RunnerError(
      "Leave out the user name and the password in the URL of --repository: a credential helper of " +
        "git gives them.",
      2,
    );
  }
  throw new RunnerError(
    `Set the URL of a --repository to one of https, ssh or file; "${text}" is none.`,
    2,
  );
}

/** The name that `--repository` would give it. Code hosts ignore case. */
export function nameOfRepository({ provider = "", owner = "", repo = "", url }: GitSource): string {
  if (provider === "git") return parseRepositoryUrl(url ?? "")?.address ?? "";
  return `${provider}:${owner}/${repo}`.toLowerCase();
}
