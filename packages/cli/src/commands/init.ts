import { type Command, Option } from "commander";
import { RUN_CLI, sourceUrl } from "../../../../src/lib/addresses.ts";
import { addConsentOption, addExamples, collect } from "../command-options.ts";
import { type Answers, type InitOptions, readAnswers } from "../init/answers.ts";
import { CREDENTIALS, HARMLESS, quote } from "../init/deploy-scripts.ts";
import { SCRIPT_FILE, TOOLS } from "../init/detect.ts";
import { type ExecutorPlan, planExecutor, writeConfigurations } from "../init/executor-plan.ts";
import { ensureScript } from "../init/script-file.ts";
import { findPool, findProject, requireReady, setUp } from "../init/set-up.ts";
import { type CliContext, openSession } from "../session.ts";

const HELP = `
Creates the project, its environments and stacks, a runner pool with a token that is stored for you only, and
.longshore.json. In a git repository with a remote, the configuration names the executor that deploys a stack;
elsewhere, deploy.sh is written unless there is one. Prints the command that starts the runner. What exists is used,
so it can be repeated.`;

const pageOf = (executor: string) => sourceUrl(`docs/deploy-with/${executor}.md`);

/** `longshore init`. */
export function addInitCommand(program: Command, context: CliContext): void {
  addExamples(
    addConsentOption(
      program
        .command("init")
        .description("set up this folder: all that a deployment needs, and what deploys it")
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
    "init",
    "init --yes",
    "init --project shop --environment staging --environment production --stack web --with workers",
    "init --project shop --environment staging --stack web --exec 'make deploy'",
  ).action((_, self: Command) => init(context, self.optsWithGlobals()));
}

async function init(context: CliContext, options: InitOptions): Promise<void> {
  const session = await openSession(context, options);
  await requireReady(context, session);
  const answers = await readAnswers(context, session, options);
  const project = await findProject(context, session, answers, options);
  const poolName = options.pool ?? project?.name ?? answers.project;
  const pool = await findPool(context, session, poolName, project, options);
  const plan = planExecutor(context, answers, options);
  const runs = await prepareRunner(context, answers, plan);
  const environments = await setUp(context, session, answers, { project, poolName, pool });
  if (plan) await writeConfigurations(context, session, environments, answers.stacks, plan);
  const longshore = programName(context);
  context.output.note(
    plan
      ? `Start the runner in this folder. Then deploy a commit that is pushed: ${pageOf(plan.executor)}`
      : `Start the runner in this folder. Then deploy, in another terminal: ${longshore} deploy --wait`,
  );
  const passed = credentialsOf(context, answers).map((name) =>
    HARMLESS.includes(name) ? `--show-env ${name}` : `--pass-env ${name}`,
  );
  context.output.print([longshore, "runner", ...runs, ...passed].join(" "));
}

/** Returns the options of the runner that say what it runs. The executor of a script needs one in the repository. */
async function prepareRunner(
  context: CliContext,
  answers: Answers,
  plan: ExecutorPlan | undefined,
): Promise<string[]> {
  if (!plan) return ["--exec", quote(await ensureScript(context, answers))];
  if (plan.executor === "script") {
    await ensureScript(context, answers);
    context.output.note(`Commit ${SCRIPT_FILE}: the runner runs it as it is in the commit.`);
  }
  return ["--executor", plan.executor, "--repository", quote(plan.repository)];
}

function credentialsOf(
  { environment }: CliContext,
  { tool, detected }: Pick<Answers, "tool" | "detected">,
): string[] {
  const names = [tool, ...detected].flatMap((each) => CREDENTIALS[each]);
  return [...new Set(names)].filter((name) => environment[name]);
}

/** How the user has started this program: by npx, as a file (as `npm start` prints it), or as a command. */
function programName({ environment, program }: CliContext): string {
  if (environment["npm_lifecycle_event"] === "npx") return RUN_CLI;
  return program.endsWith(".js") ? `node ${quote(program)}` : "longshore";
}
