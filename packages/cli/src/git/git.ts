import { spawnSync } from "node:child_process";
import type { CliContext } from "../session.ts";

/** For a remote that does not answer. */
const TIMEOUT_MS = 30_000;

/** The output without its last line break. Null as `status`: there is no git, or it took too long. */
export interface GitResult {
  status: number | null;
  output: string;
}

export type Git = (...args: string[]) => GitResult;

/** git in the folder of the command. It asks for no password: it has no terminal. */
export function gitIn({ environment, folder }: Pick<CliContext, "environment" | "folder">): Git {
  const env = { ...(environment as NodeJS.ProcessEnv), GIT_TERMINAL_PROMPT: "0" };
  return (...args) => {
    const { status, stdout } = spawnSync("git", args, {
      ...{ cwd: folder, env, encoding: "utf8", timeout: TIMEOUT_MS },
      stdio: ["ignore", "pipe", "ignore"],
    });
    return { status, output: (stdout ?? "").replace(/\n$/, "") };
  };
}
