import { realpathSync, statSync } from "node:fs";
import { devNull } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";
import type { GitSource } from "../api-types.ts";
import { type CommandOptions, type CommandResult, runCommand } from "../command.ts";
import type { CommandEnvironment } from "../environment.ts";
import { TemporaryFolder } from "../temporary-folder.ts";
import { writeKeptSettings } from "./git-settings.ts";
import { TextError } from "./interpolation.ts";
import { FileList, LIST_FILES, pullSettings } from "./large-files.ts";
import { quote } from "./quote.ts";
import type { Repository } from "./repositories.ts";

const SHA = /^[0-9a-f]{40}$/i;
/** Anybody can create others, such as GitHub's `refs/pull/1/head`, with commits of a fork. */
const REF = /^refs\/(heads|tags)\/[^\p{Cc} ~^:?*[\\]+$/u;
/** Where the fetched branch or tag is. */
const FETCHED = "refs/longshore/source";

/** What a setting may name, in messages. */
const PATH_KINDS = { file: "file", folder: "folder", path: "file or folder" } as const;

/** For git, a depth without an end. */
const ALL = 2_147_483_647;

/** Over the settings of the machine and those that are kept of the user. */
const SETTINGS = [
  `core.hooksPath=${devNull}`,
  `core.attributesFile=${devNull}`,
  "http.followRedirects=false",
  "submodule.recurse=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "advice.detachedHead=false",
];

/** The commit to check out. */
export interface GitCommit {
  repository: Repository;
  ref: string;
  sha: string;
}

/** Throws a `TextError` that says why the commit of a source cannot be checked out. */
export function readCommit({ ref, commit }: GitSource, repository: Repository): GitCommit {
  const { sha = "" } = commit ?? {};
  if (!SHA.test(sha)) {
    throw new TextError(`The commit ${quote(sha)} of the source is not a full hash of 40 digits.`);
  }
  const full = ref?.startsWith("refs/") ? ref : `refs/heads/${ref ?? ""}`;
  if (!REF.test(full)) {
    throw new TextError(
      `The ref ${quote(full)} of the source is neither a branch (refs/heads/…) nor a tag (refs/tags/…): ` +
        "others may have commits of forks.",
    );
  }
  return { repository, ref: full, sha: sha.toLowerCase() };
}

interface CheckoutOptions extends CommandOptions {
  /** Whether the runner fetches the files of Git LFS. */
  hasLfs: boolean;
}

/** The files of one commit, in a fresh folder. */
export class Checkout {
  readonly #folder = new TemporaryFolder("longshore-checkout-");
  /** Has the settings that are kept of the user. What is deployed cannot read it: it is gone by then. */
  readonly #settings = new TemporaryFolder("longshore-git-");
  readonly #settingsFile = join(this.#settings.path, "config");
  readonly #userEnvironment: Record<string, string>;
  readonly #environment: Record<string, string>;
  readonly #options: CheckoutOptions;
  readonly #commit: GitCommit;

  /** git gets no variables of the deployment. */
  constructor(commit: GitCommit, environment: CommandEnvironment, options: CheckoutOptions) {
    this.#commit = commit;
    this.#options = options;
    this.#userEnvironment = environment.createForTools([]);
    this.#environment = environment.createForTools(
      Object.entries({
        GIT_ALLOW_PROTOCOL: new URL(commit.repository.url).protocol.slice(0, -1),
        GIT_ATTR_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: this.#settingsFile,
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_LFS_SKIP_SMUDGE: "1",
        GIT_TERMINAL_PROMPT: "0",
      }).map(([name, value]) => ({ name, value })),
    );
  }

  get folder(): string {
    return this.#folder.path;
  }

  async fill(): Promise<CommandResult> {
    try {
      return await this.#fill();
    } finally {
      await this.#settings.remove();
    }
  }

  /**
   * Fetches the branch or tag, and never the commit by its hash: GitHub has the commits of forks under the
   * name of their parent. Most deployments are of the newest commit, so it gets the others only then.
   */
  async #fill(): Promise<CommandResult> {
    const { repository, ref, sha } = this.#commit;
    const fetch = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"];
    const from = ["--", repository.url, `+${ref}:${FETCHED}`];
    const created = await this.#git(["init", "--quiet", "--template=", "."]);
    if (!created.ok) return created;
    await writeKeptSettings(this.#settingsFile, this.folder, this.#userEnvironment);
    const newest = await this.#git([...fetch, "--depth=1", ...from]);
    if (!newest.ok) return newest;
    if (!(await this.#isReachable(sha))) {
      const all = await this.#git([...fetch, `--depth=${ALL}`, ...from]);
      if (!all.ok) return all;
      if (!(await this.#isReachable(sha))) {
        const reason = `The commit ${sha} is not in ${ref} of ${repository.name}.`;
        return { ok: false, reason };
      }
    }
    const checkedOut = await this.#git(["checkout", "--quiet", "--detach", sha, "--"]);
    return checkedOut.ok ? this.#fetchLargeFiles(repository) : checkedOut;
  }

  /** Git LFS fetches nothing while git checks out, because the folder has no remote. */
  async #fetchLargeFiles({ url }: Repository): Promise<CommandResult> {
    if (this.#options.hasLfs)
      return this.#git(["lfs", "pull", url], { settings: pullSettings(url) });
    const files = new FileList();
    const listed = await this.#git(LIST_FILES, { onOutput: files.add });
    const pointer = listed.ok ? files.findPointer(this.folder) : undefined;
    if (pointer === undefined) return listed;
    const reason =
      `The commit has files of Git LFS, such as ${quote(pointer)}, and the runner does not fetch them. ` +
      "Its operator adds --lfs, and installs git-lfs.";
    return { ok: false, reason };
  }

  /** The real path of a file or folder. Links must stay in the checkout, too. No message has the path: it may be secret. */
  findPath(pointer: string, path: string, type: "file" | "folder" | "path"): string {
    const kind = PATH_KINDS[type];
    const found = realPath(join(this.folder, path));
    if (found === undefined || (type !== "path" && found.type !== type)) {
      throw new TextError(`${pointer}: the commit has no such ${kind}.`);
    }
    const inside = relative(realpathSync(this.folder), found.path);
    if (inside.split(sep)[0] === ".." || isAbsolute(inside)) {
      throw new TextError(`${pointer} leads out of the repository, through a link.`);
    }
    return found.path;
  }

  remove(): Promise<void> {
    return this.#folder.remove();
  }

  /** Without an answer in the log: git calls a commit that it does not have an error. */
  async #isReachable(sha: string): Promise<boolean> {
    const args = ["merge-base", "--is-ancestor", sha, `${FETCHED}^{commit}`];
    return (await this.#git(args, { onOutput: () => undefined })).ok;
  }

  async #git(
    args: readonly string[],
    {
      onOutput = this.#options.onOutput,
      settings = [],
    }: { onOutput?: (chunk: Buffer) => void; settings?: readonly string[] } = {},
  ): Promise<CommandResult> {
    const all = [...SETTINGS, ...settings].flatMap((each) => ["-c", each]);
    const program = { file: "git", args: [...all, ...args], folder: this.folder };
    const result = await runCommand(program, this.#environment, { ...this.#options, onOutput });
    if (result.ok) return result;
    return { ok: false, reason: `git ${args[0]}: ${result.reason ?? ""} The log says why.` };
  }
}

/** Undefined: there is neither a file nor a folder. */
function realPath(link: string): { path: string; type: "file" | "folder" } | undefined {
  try {
    const path = realpathSync(link);
    const stats = statSync(path);
    if (stats.isDirectory()) return { path, type: "folder" };
    return stats.isFile() ? { path, type: "file" } : undefined;
  } catch {
    return undefined;
  }
}
