import { readFileSync } from "node:fs";
import { isObject } from "../../../src/lib/json-value.ts";
import { CliError } from "../../cli/src/errors.ts";
import { readCommit } from "../../cli/src/git/commit.ts";
import { gitIn } from "../../cli/src/git/git.ts";
import type { Schemas } from "../../client/src/index.ts";

type GitSource = Schemas["GitSourceInput"];
type Commit = GitSource["commit"];
type Environment = NodeJS.Dict<string>;

const GITHUB = "https://github.com";
const SHA = /^[0-9a-f]{40}$/;

/** The events whose commit is not GITHUB_SHA. */
const HEADS: Readonly<Record<string, (event: unknown) => Head>> = {
  pull_request: headOfPullRequest,
  pull_request_target: headOfPullRequest,
  workflow_run: headOfWorkflowRun,
};

/** The parts of an event that say what to deploy. */
interface Head {
  sha: unknown;
  branch: unknown;
  /** Such as `acme/shop`: of a pull request from a fork, the fork. */
  repository: unknown;
  repositoryId: unknown;
  pullRequest?: unknown;
}

/**
 * The commit of the event that has started the job. Undefined: this is not a GitHub job.
 * @param given The input `commit`, instead of the event's.
 * @throws CliError if the event has deleted its ref, or if `given` is no full hash.
 */
export function readEventCommit(environment: Environment, given?: string): GitSource | undefined {
  if (given !== undefined && !SHA.test(given)) {
    throw new CliError("The input commit must be a full hash: 40 digits from 0 to 9 and a to f.");
  }
  const event = readEvent(environment);
  if (at(event, "deleted") === true || environment["GITHUB_EVENT_NAME"] === "delete") {
    throw new CliError("The event deleted its branch or tag, so there is nothing to deploy.");
  }
  const head = HEADS[environment["GITHUB_EVENT_NAME"] ?? ""]?.(event);
  const branch = textOf(head?.branch);
  const repository = head ? textOf(head.repository) : environment["GITHUB_REPOSITORY"];
  const sha = given ?? textOf(head ? head.sha : environment["GITHUB_SHA"]);
  // A pull request whose fork is gone has no branch; one of the same name here is another.
  if (head && !(sha && branch && repository)) {
    throw new CliError("The event does not say which commit to deploy, or its repository is gone.");
  }
  const ref = branch === undefined ? environment["GITHUB_REF"] : `refs/heads/${branch}`;
  if (!sha || !ref || !repository) return undefined;
  const repositoryId = textOf(
    head
      ? head.repositoryId
      : (at(event, "repository", "id") ?? environment["GITHUB_REPOSITORY_ID"]),
  );
  const pullRequest = textOf(head?.pullRequest);
  return {
    ...repositoryOf(environment["GITHUB_SERVER_URL"] ?? GITHUB, repository),
    ref,
    commit: commitOf(event, sha) ?? checkedOut(environment, sha) ?? unknownCommit(sha),
    ...(repositoryId !== undefined && { repo_id: repositoryId }),
    ...(pullRequest !== undefined && { pull_request: pullRequest }),
  };
}

function readEvent({ GITHUB_EVENT_PATH: path }: Environment): unknown {
  if (!path) return {};
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new CliError(`Cannot read the event of this job: ${path}`);
  }
}

function headOfPullRequest(event: unknown): Head {
  const head = at(event, "pull_request", "head");
  return {
    sha: at(head, "sha"),
    branch: at(head, "ref"),
    repository: at(head, "repo", "full_name"),
    repositoryId: at(head, "repo", "id"),
    pullRequest: at(event, "pull_request", "number"),
  };
}

function headOfWorkflowRun(event: unknown): Head {
  const run = at(event, "workflow_run");
  return {
    sha: at(run, "head_sha"),
    branch: at(run, "head_branch"),
    repository: at(run, "head_repository", "full_name"),
    repositoryId: at(run, "head_repository", "id"),
  };
}

/** A self-hosted server has no provider of its own. */
function repositoryOf(server: string, repository: string) {
  const [owner = "", repo = ""] = repository.split("/");
  if (server === GITHUB) return { provider: "github" as const, owner, repo };
  return { provider: "git" as const, url: `${server}/${repository}.git` };
}

/** The message and the people of the commit, which pushes and workflow runs contain. */
function commitOf(event: unknown, sha: string): Commit | undefined {
  const commits = [at(event, "head_commit"), at(event, "workflow_run", "head_commit")];
  const found = commits.find((each) => at(each, "id") === sha);
  if (!found) return undefined;
  return {
    sha,
    message: textOf(at(found, "message")) ?? "",
    author: personOf(at(found, "author")),
    committer: personOf(at(found, "committer")),
  };
}

function personOf(person: unknown): Commit["author"] {
  const [name, email, login] = [
    textOf(at(person, "name")),
    textOf(at(person, "email")),
    textOf(at(person, "username")),
  ];
  return { ...(name && { name }), ...(email && { email }), ...(login && { login }) };
}

/** The commit in the workspace, if `actions/checkout` ran before this step. */
function checkedOut(environment: Environment, sha: string): Commit | undefined {
  const { GITHUB_WORKSPACE: folder } = environment;
  if (!folder) return undefined;
  const git = gitIn({ environment, folder });
  const isThere = git("cat-file", "-e", `${sha}^{commit}`).status === 0;
  return isThere ? readCommit(git, sha) : undefined;
}

function unknownCommit(sha: string): Commit {
  return { sha, message: "", author: {}, committer: {} };
}

function at(value: unknown, ...names: string[]): unknown {
  return names.reduce<unknown>((found, name) => (isObject(found) ? found[name] : undefined), value);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
