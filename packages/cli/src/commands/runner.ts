import type { Command } from "commander";
import { runRunner } from "../../../runner/src/runner.ts";
import type { CliContext } from "../session.ts";
import { readStoredRunners } from "../stored-runners.ts";

/** `longshore runner`: the reference runner, which reads its arguments itself. */
export function addRunnerCommand(
  program: Command,
  context: CliContext,
  args: readonly string[] = [],
): void {
  program
    .command("runner")
    .description("execute the deployments of a runner pool; see longshore runner --help")
    .usage("(--exec COMMAND | --executor NAME) [--url URL --token-file PATH]")
    .action(async () => {
      // The runner continues a deployment when the reader of its output goes away.
      context.output.needsReader = false;
      const hasToken = args.some((each) => /^--(token|oidc)-/.test(each));
      const runner = hasToken
        ? undefined
        : (await readStoredRunners(context.environment)).get(context.folder);
      const stored = runner?.token && { url: runner.url, token: runner.token.text };
      context.exitCode = await runRunner(args, context.environment, stored);
    });
}
