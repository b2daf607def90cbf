import { LIMITS } from "./limits.ts";

/** The issuers whose claims mean the same for everybody. Other hosts are known by a trust alone. */
export const CODE_HOST_ISSUERS = [
  "https://token.actions.githubusercontent.com",
  "https://gitlab.com",
] as const;
export type CodeHostIssuer = (typeof CODE_HOST_ISSUERS)[number];

/** What a CI job runs for, in the same form for each code host. */
export interface JobSource {
  /** Digits. */
  repository_id: string;
  /** In full, such as `refs/heads/main`. */
  ref: string;
  /** Whether the host protects the ref. */
  is_protected: boolean;
  /** Absent: the token has no commit. */
  sha?: string;
}

/** A commit as the source of a deployment names it. */
interface NamedCommit {
  provider: string;
  owner: string;
  repo: string;
  repo_id: string;
  url?: string;
  ref: string;
  commit: { sha: string };
}

type VerifiedJob = Partial<JobSource> & { issuer: string };

/**
 * Whether the job has run for this commit.
 * @param repository Its name in the claims.
 */
export function isCommitOfJob(git: NamedCommit, job: VerifiedJob, repository?: string): boolean {
  const isCommit = job.ref === git.ref && job.sha === git.commit.sha.toLowerCase();
  return isCommit && repository !== undefined && isRepositoryOfJob(git, job, repository);
}

/** A self-hosted server has its own `acme/shop` and its own numbers, so its host must match the URL's. */
function isRepositoryOfJob(
  { provider, owner, repo, repo_id, url }: NamedCommit,
  { issuer, repository_id }: VerifiedJob,
  repository: string,
): boolean {
  const name = repository.toLowerCase();
  if (Object.hasOwn(KNOWN_HOSTS, issuer)) {
    const isHost = KNOWN_HOSTS[issuer] === provider && repository_id === repo_id;
    return isHost && name === `${owner}/${repo}`.toLowerCase();
  }
  if (url === undefined || !URL.canParse(issuer)) return false;
  const { hostname, pathname } = new URL(url);
  const path = pathname
    .slice(1)
    .replace(/\.git$/, "")
    .toLowerCase();
  return hostname === new URL(issuer).hostname && path === name;
}

type Claims = Readonly<Record<string, unknown>>;

const HOSTS = { github: readGitHub, gitlab: readGitLab };

const KNOWN_HOSTS: Readonly<Record<string, keyof typeof HOSTS>> = {
  "https://token.actions.githubusercontent.com": "github",
  "https://gitlab.com": "gitlab",
} satisfies Record<CodeHostIssuer, keyof typeof HOSTS>;

/** Undefined if a claim is missing, or claims contradict each other: rules match nothing then. */
export function readJobSource(issuer: string, claims: Claims): JobSource | undefined {
  const host = Object.hasOwn(KNOWN_HOSTS, issuer) ? KNOWN_HOSTS[issuer] : hostOf(claims);
  const source = host && HOSTS[host](claims);
  if (!source) return undefined;
  const sha = claims["sha"];
  const is_protected = String(claims["ref_protected"]) === "true";
  const isCommit = typeof sha === "string" && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(sha);
  return { ...source, is_protected, ...(isCommit && { sha }) };
}

/** A server of one's own is told by the claims that only its product has. */
function hostOf(claims: Claims): keyof typeof HOSTS | undefined {
  const isGitHub = "repository_id" in claims;
  const isGitLab = "project_id" in claims;
  if (isGitHub === isGitLab) return undefined;
  return isGitHub ? "github" : "gitlab";
}

type Compared = Pick<JobSource, "repository_id" | "ref"> | undefined;

function readGitHub({ repository_id: id, ref, ref_type: type }: Claims): Compared {
  const repository_id = toNumber(id);
  if (repository_id === undefined || !isFull(ref)) return undefined;
  return type === undefined || isOfType(ref, type) ? { repository_id, ref } : undefined;
}

/** `ref` is a short name there, which a branch and a tag may share. */
function readGitLab({ project_id: id, ref_path: ref, ref_type: type }: Claims): Compared {
  const repository_id = toNumber(id);
  if (repository_id === undefined || !isFull(ref)) return undefined;
  return isOfType(ref, type) ? { repository_id, ref } : undefined;
}

function toNumber(claim: unknown): string | undefined {
  const text = typeof claim === "number" ? String(claim) : claim;
  return typeof text === "string" && /^\d{1,20}$/.test(text) ? text : undefined;
}

function isFull(ref: unknown): ref is string {
  if (typeof ref !== "string" || ref.length > LIMITS.sourceLength.value) return false;
  const [root, kind, ...name] = ref.split("/");
  return root === "refs" && kind !== "" && name.join("/") !== "";
}

/** A job for a merge request has the type of its branch, and a ref of neither kind. */
function isOfType(ref: string, type: unknown): boolean {
  if (type !== "branch" && type !== "tag") return false;
  if (ref.startsWith("refs/heads/")) return type === "branch";
  return !ref.startsWith("refs/tags/") || type === "tag";
}
