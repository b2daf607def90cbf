import type { Schemas } from "../../../client/src/index.ts";
import { CliError } from "../errors.ts";
import type { Output } from "../output.ts";
import type { CliContext } from "../session.ts";
import { type Git, gitIn } from "./git.ts";
import { nameOf, readRemote } from "./remote.ts";
import { shortRef } from "./repository.ts";

type GitSource = Schemas["GitSourceInput"];

export interface CommitOptions {
  /** What git calls a revision. Default: HEAD. */
  commit?: string;
  /** A branch or tag. Default: the branch that is checked out, by its name at the remote. */
  ref?: string;
}

/** How many uncommitted files are named. */
const NAMED_FILES = 5;
const NO_REF = 2;

/** Undefined: the folder is in no repository. */
export function findGit(context: CliContext): Git | undefined {
  const git = gitIn(context);
  return git("rev-parse", "--is-inside-work-tree").output === "true" ? git : undefined;
}

/**
 * Reads what to deploy from the repository of the folder, and makes sure that a runner will find it.
 * @throws CliError if the commit is not in the ref at the remote.
 */
export function readCommitSource(
  git: Git,
  { output, folder }: Pick<CliContext, "output" | "folder">,
  options: CommitOptions,
): GitSource {
  const revision = options.commit ?? "HEAD";
  const sha = git("rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`);
  if (sha.status !== 0) throw new CliError(`The repository has no commit "${revision}".`);
  const { remote, ref } = findRef(git, options.ref);
  const url = git("remote", "get-url", remote);
  const repository = readRemote(url.output, folder);
  if (!repository) {
    throw new CliError(
      `Runners can't fetch from the remote ${remote}. Give it an https, ssh or file URL: ` +
        `git remote set-url ${remote} URL`,
    );
  }
  requirePushed(git, output, { sha: sha.output, ref, remote });
  if (options.commit === undefined) noteChanges(git, output);
  output.note(
    `Deploying ${sha.output.slice(0, 7)} of ${shortRef(ref)} from ${nameOf(repository)}.`,
  );
  return { ...repository, ref, commit: readCommit(git, sha.output) };
}

interface RemoteRef {
  remote: string;
  /** In full. */
  ref: string;
}

function findRef(git: Git, given: string | undefined): RemoteRef {
  if (given?.startsWith("-")) throw new CliError(`"${given}" is not a branch or tag.`);
  if (given?.startsWith("refs/")) return { remote: "origin", ref: given };
  if (given !== undefined) {
    const { output } = git("rev-parse", "--symbolic-full-name", "--verify", "--quiet", given);
    const [, tracked] = /^refs\/remotes\/[^/]+\/(.+)$/.exec(output) ?? [];
    const isLocal = /^refs\/(heads|tags)\//.test(output);
    return { remote: "origin", ref: isLocal ? output : `refs/heads/${tracked ?? given}` };
  }
  const branch = git("symbolic-ref", "--quiet", "HEAD");
  if (branch.status !== 0) {
    throw new CliError("HEAD is detached. Name the branch or tag that has the commit: --ref main");
  }
  const format = "--format=%(upstream:remotename) %(upstream:remoteref)";
  const [remote, ref] = git("for-each-ref", format, branch.output).output.split(" ");
  return remote && ref ? { remote, ref } : { remote: "origin", ref: branch.output };
}

/** Fetches the ref, which moves no branch. The runner checks again. */
function requirePushed(
  git: Git,
  output: Output,
  { sha, ref, remote }: RemoteRef & { sha: string },
): void {
  const name = shortRef(ref);
  if (git("fetch", "--quiet", "--no-tags", "--", remote, ref).status !== 0) {
    if (git("ls-remote", "--exit-code", "--", remote, ref).status === NO_REF) {
      throw new CliError(`${remote} has no ${name}. Push it first: git push -u ${remote} ${name}`);
    }
    output.note(`Couldn't check that ${name} of ${remote} has the commit. The runner will.`);
    return;
  }
  if (git("merge-base", "--is-ancestor", sha, "FETCH_HEAD").status === 0) return;
  if (git("rev-parse", "--is-shallow-repository").output === "true") {
    output.note(
      `Couldn't check that ${name} has the commit, because the clone is shallow. The runner will.`,
    );
    return;
  }
  throw new CliError(
    `The commit ${sha.slice(0, 7)} is not in ${name} of ${remote}. Push it first: git push`,
  );
}

function noteChanges(git: Git, output: Output): void {
  const files = git("status", "--porcelain", "--untracked-files=normal", "-z")
    .output.split("\0")
    .filter((line) => /^[ MTADRCU?!]{2} /.test(line))
    .map((line) => line.slice(3));
  if (files.length === 0) return;
  const rest = files.length - NAMED_FILES;
  const named = files.slice(0, NAMED_FILES).join(", ");
  output.note(
    `Not deployed, because not committed: ${named}${rest > 0 ? ` and ${rest} more` : ""}.`,
  );
}

/** The texts of a commit that the repository has. */
export function readCommit(git: Git, sha: string): GitSource["commit"] {
  const format = "--format=%an%x00%ae%x00%cn%x00%ce%x00%B";
  const settings = ["-c", "i18n.logOutputEncoding=UTF-8", "-c", "log.showSignature=false"];
  const { output } = git(...settings, "log", "-1", format, sha);
  const [name = "", email = "", committer = "", address = "", message = ""] = output.split("\0");
  return {
    sha,
    message: message.trimEnd(),
    author: { name, email },
    committer: { name: committer, email: address },
  };
}
