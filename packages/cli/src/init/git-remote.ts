import { spawnSync } from "node:child_process";
import type { CliContext } from "../session.ts";

/** Where the folder is in a repository of a host that the runner knows. */
export interface GitFolder {
  /** As `--repository` takes it, such as `github:acme/shop`. */
  repository: string;
  /** The folder below the root of the repository: empty, or with a `/` at its end. */
  prefix: string;
}

const PROVIDERS: Readonly<Record<string, string>> = {
  "github.com": "github",
  "gitlab.com": "gitlab",
  "bitbucket.org": "bitbucket",
};
/** Such as `git@github.com:acme/shop.git` and `https://github.com/acme/shop`. */
const REMOTE =
  /^(?:(?:https?|ssh|git):\/\/)?(?:[^@/\s]+@)?([\w.-]+)(?::\d+(?=\/))?[:/]+([\w.-]+(?:\/[\w.-]+)+)\/*$/;

/** Undefined without git, outside of a repository, and with a remote `origin` of another host. */
export function findGitFolder({ environment, folder }: CliContext): GitFolder | undefined {
  const git = (...args: string[]) => {
    const env = environment as NodeJS.ProcessEnv;
    const { status, stdout } = spawnSync("git", args, { cwd: folder, env, encoding: "utf8" });
    return status === 0 ? stdout.replace(/\n$/, "") : undefined;
  };
  const repository = readRemote(git("remote", "get-url", "origin") ?? "");
  const prefix = repository && git("rev-parse", "--show-prefix");
  return repository === undefined || prefix === undefined ? undefined : { repository, prefix };
}

/** The URL may have a password, which is left out. */
export function readRemote(url: string): string | undefined {
  const [, host = "", path = ""] = REMOTE.exec(url) ?? [];
  const provider = Object.hasOwn(PROVIDERS, host) ? PROVIDERS[host] : undefined;
  return provider && `${provider}:${path.replace(/\.git$/, "")}`;
}
