import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** The user who runs the tests may have a configuration of git, with hooks and signatures. */
const ENVIRONMENT = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
const PERSON = { name: "Ada", email: "ada@example.com" };

/** A repository of a host, with the branch `main`. */
export class GitRepository {
  readonly folder = mkdtempSync(join(tmpdir(), "longshore-git-"));
  readonly url = pathToFileURL(this.folder).href;

  constructor() {
    this.git("init", "--quiet", "--initial-branch=main");
  }

  /** Adds files that can be executed, and links. Returns the commit. */
  commit(files: Record<string, string>, links: Record<string, string> = {}): string {
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content, { mode: name.endsWith(".txt") ? 0o644 : 0o755 });
    }
    for (const [name, target] of Object.entries(links)) {
      symlinkSync(target, join(this.folder, name));
    }
    this.git("add", "--all");
    const person = ["-c", `user.name=${PERSON.name}`, "-c", `user.email=${PERSON.email}`];
    this.git(...person, "commit", "--quiet", "--allow-empty", "--message", "Change");
    return this.git("rev-parse", "HEAD").trim();
  }

  git(...args: string[]): string {
    const env = { ...process.env, ...ENVIRONMENT };
    return execFileSync("git", args, { cwd: this.folder, env, encoding: "utf8" });
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
