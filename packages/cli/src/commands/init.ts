import { type Command, Option } from "commander";
import { addConsentOption, addExamples, collect } from "../command-options.ts";
import { type Answers, type InitOptions, readAnswers } from "../init/answers.ts";
import { CREDENTIALS, quote } from "../init/deploy-scripts.ts";
import { TOOLS } from "../init/detect.ts";
import { ensureScript } from "../init/script-file.ts";
import { findPool, findProject, requireReady, setUp } from "../init/set-up.ts";
import { type CliContext, openSession } from "../session.ts";

const HELP = `
Creates the project, its environments and stacks, a runner pool with a token that is stored for you only, and
.longshore.json. Writes deploy.sh, which calls what deploys the folder, unless there is one. Prints the command
that starts the runner. What exists is used, so it can be repeated.`;

/** `longshore init`. */
export function addInitCommand(program: Command, context: CliContext): void {
  addExamples(
    addConsentOption(
      program
        .command("init")
        .description("set up this folder: all that a deployment needs, and a script that deploys")
        .option("-p, --project <name>", "name or ID; the name of the folder by default")
        .option("-e, --environment <name>", "name or ID; may be repeated", collect)
        .option("--stack <name>", "what is deployed as a whole; may be repeated", collect)
        .addOption(new Option("--with <tool>", "what deploys a stack").choices(TOOLS))
        .option("--exec <command>", "the command of --with command, such as 'make deploy'")
        .option(
          "--pool <name>",
          "name or ID of the runner pool; the name of the project by default",
        ),
    ).addHelpText("after", HELP),
    "longshore init",
    "longshore init --yes",
    "longshore init --project shop --environment staging --environment production --stack web --with workers",
    "longshore init --project shop --environment staging --stack web --exec 'make deploy'",
  ).action((_, self: Command) => init(context, self.optsWithGlobals()));
}

async function init(context: CliContext, options: InitOptions): Promise<void> {
  const session = await openSession(context, options);
  await requireReady(context, session);
  const answers = await readAnswers(context, session, options);
  const project = await findProject(context, session, answers, options);
  const poolName = options.pool ?? project?.name ?? answers.project;
  const pool = await findPool(context, session, poolName, project, options);
  const exec = await ensureScript(context, answers);
  await setUp(context, session, answers, { project, poolName, pool });
  const longshore = programName(context.environment);
  context.output.note(
    `Start the runner in this folder. Then deploy, in another terminal: ${longshore} deploy --wait`,
  );
  const passed = credentialsOf(context, answers).map((name) => `--pass-env ${name}`);
  context.output.print([longshore, "runner", "--exec", quote(exec), ...passed].join(" "));
}

function credentialsOf(
  { environment }: CliContext,
  { tool, detected }: Pick<Answers, "tool" | "detected">,
): string[] {
  const names = [tool, ...detected].flatMap((each) => CREDENTIALS[each]);
  return [...new Set(names)].filter((name) => environment[name]);
}

/** How the user has started this program. */
function programName({ npm_lifecycle_event: event }: NodeJS.Dict<string>): string {
  return event === "npx" ? "npx @longshore/cli" : "longshore";
}
