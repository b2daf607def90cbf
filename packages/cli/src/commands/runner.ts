import type { Command } from "commander";
import { runRunner } from "../../../runner/src/runner.ts";
import type { CliContext } from "../session.ts";

/** `longshore runner`: the reference runner, which reads its arguments itself. */
export function addRunnerCommand(
  program: Command,
  context: CliContext,
  args: readonly string[] = [],
): void {
  program
    .command("runner")
    .description("execute the deployments of a runner pool; see longshore runner --help")
    .usage("--url URL --exec COMMAND --token-file PATH")
    .action(async () => {
      // The runner continues a deployment when the reader of its output goes away.
      context.output.needsReader = false;
      context.exitCode = await runRunner(args, context.environment);
    });
}
