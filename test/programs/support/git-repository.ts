import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

/** The user who runs the tests may have a configuration of git, with hooks and signatures. */
const ENVIRONMENT = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
const PERSON = { name: "Ada", email: "ada@example.com" };

/**
 * A repository of a host, with the branch `main`. No call blocks this process, which has tests at the same time, and
 * connections that their service closes if it sends nothing for 15 s.
 */
export class GitRepository {
  readonly folder = mkdtempSync(join(tmpdir(), "longshore-git-"));
  readonly url = pathToFileURL(this.folder).href;

  private constructor() {}

  static async create(): Promise<GitRepository> {
    const repository = new GitRepository();
    await repository.git("init", "--quiet", "--initial-branch=main");
    return repository;
  }

  /** Adds files that can be executed, and links. Returns the commit. */
  async commit(files: Record<string, string>, links: Record<string, string> = {}): Promise<string> {
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content, { mode: name.endsWith(".txt") ? 0o644 : 0o755 });
    }
    for (const [name, target] of Object.entries(links)) {
      symlinkSync(target, join(this.folder, name));
    }
    await this.git("add", "--all");
    const person = ["-c", `user.name=${PERSON.name}`, "-c", `user.email=${PERSON.email}`];
    await this.git(...person, "commit", "--quiet", "--allow-empty", "--message", "Change");
    return (await this.git("rev-parse", "HEAD")).trim();
  }

  async git(...args: string[]): Promise<string> {
    const env = { ...process.env, ...ENVIRONMENT };
    return (await promisify(execFile)("git", args, { cwd: this.folder, env })).stdout;
  }

  /** The source of a deployment of this commit of `acme/shop`. */
  source(sha: string, changes: object = {}): object {
    const commit = { sha, message: "Change", author: PERSON, committer: PERSON };
    const repository = { owner: "acme", repo: "shop", repo_id: "1", installation_id: "2" };
    return {
      git: { provider: "github", ref: "refs/heads/main", commit, ...repository, ...changes },
    };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
