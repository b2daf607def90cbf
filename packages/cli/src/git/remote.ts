import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { CliContext } from "../session.ts";
import { gitIn } from "./git.ts";
import { isPath, type NamedRepository, readRepository } from "./repository.ts";

/** Where the folder is in a repository that a runner can check out. */
export interface GitFolder {
  repository: NamedRepository;
  /** The folder below the root of the repository: empty, or with a `/` at its end. */
  prefix: string;
}

/** Undefined without git, outside of a repository, and without a remote `origin` that a runner could fetch. */
export function findGitFolder(context: CliContext): GitFolder | undefined {
  const git = gitIn(context);
  const remote = git("remote", "get-url", "origin");
  const repository = readRemote(remote.output, context.folder);
  const prefix = git("rev-parse", "--show-prefix");
  return repository && prefix.status === 0 ? { repository, prefix: prefix.output } : undefined;
}

/** @param folder That a path is relative to. */
export function readRemote(remote: string, folder: string): NamedRepository | undefined {
  if (remote === "") return undefined;
  const repository = readRepository(remote);
  if (repository || !isPath(remote)) return repository;
  return readRepository(pathToFileURL(resolve(folder, remote)).href);
}

/** The name that the runner's `--repository` takes, such as `github:acme/shop`. */
export function nameOf(repository: NamedRepository): string {
  if (repository.provider === "git") return repository.url;
  return `${repository.provider}:${repository.owner}/${repository.repo}`;
}
