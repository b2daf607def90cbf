import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseRepositoryUrl } from "../../../../src/lib/repository-url.ts";
import type { Schemas } from "../../../client/src/index.ts";
import type { CliContext } from "../session.ts";
import { gitIn } from "./git.ts";

type Provider = Schemas["GitProvider"];

/** A repository as the source of a deployment names it. */
export type NamedRepository =
  | { provider: Exclude<Provider, "git">; owner: string; repo: string }
  | { provider: "git"; url: string };

/** Where the folder is in a repository that a runner can check out. */
export interface GitFolder {
  repository: NamedRepository;
  /** The folder below the root of the repository: empty, or with a `/` at its end. */
  prefix: string;
}

const PROVIDERS: Readonly<Record<string, Exclude<Provider, "git">>> = {
  "github.com": "github",
  "gitlab.com": "gitlab",
  "bitbucket.org": "bitbucket",
};
/** Such as `git@github.com:acme/shop.git` and `https://github.com/acme/shop`. */
const AT_HOST =
  /^(?:(?:https?|ssh|git):\/\/)?(?:[^@/\s]+@)?([\w.-]+)(?::\d+(?=\/))?[:/]+([\w.-]+(?:\/[\w.-]+)+)\/*$/;
/** The short form of ssh, such as `git@git.example.com:acme/shop.git`. A single letter is a Windows drive. */
const SCP = /^(?:([\w.-]+)@)?([\w.-]{2,}):\/?([^/:].*)$/;

/** Undefined without git, outside of a repository, and without a remote `origin` that a runner could fetch. */
export function findGitFolder(context: CliContext): GitFolder | undefined {
  const git = gitIn(context);
  const remote = git("remote", "get-url", "origin");
  const repository = readRemote(remote.output, context.folder);
  const prefix = git("rev-parse", "--show-prefix");
  return repository && prefix.status === 0 ? { repository, prefix: prefix.output } : undefined;
}

/**
 * The URL may have a password, which is left out.
 * @param folder That a path is relative to.
 */
export function readRemote(remote: string, folder: string): NamedRepository | undefined {
  if (remote === "") return undefined;
  const [, host = "", path = ""] = AT_HOST.exec(remote) ?? [];
  const provider = Object.hasOwn(PROVIDERS, host) ? PROVIDERS[host] : undefined;
  if (provider) {
    const [repo = "", ...owner] = path
      .replace(/\.git$/, "")
      .split("/")
      .reverse();
    return { provider, owner: owner.reverse().join("/"), repo };
  }
  const url = parseRepositoryUrl(toUrl(remote, folder))?.href;
  return url === undefined ? undefined : { provider: "git", url };
}

function toUrl(remote: string, folder: string): string {
  // The second form is for programs that git would start.
  if (/^[a-z]+:(?:\/\/|:)/i.test(remote)) return withoutPassword(remote);
  const [, user, host, path] = SCP.exec(remote) ?? [];
  if (host !== undefined) return `ssh://${user === undefined ? "" : `${user}@`}${host}/${path}`;
  return pathToFileURL(resolve(folder, remote)).href;
}

function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.password = "";
  if (url.protocol !== "ssh:") url.username = "";
  return url.href;
}

/** The name that the runner's `--repository` takes, such as `github:acme/shop`. */
export function nameOf(repository: NamedRepository): string {
  if (repository.provider === "git") return repository.url;
  return `${repository.provider}:${repository.owner}/${repository.repo}`;
}
