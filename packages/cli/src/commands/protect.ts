import { type Command, Option } from "commander";
import { ApiError, type Schemas } from "../../../client/src/index.ts";
import { describeRules, type NameOf } from "../../../console/src/pages/protection/rules.ts";
import { addConsentOption, addExamples, collect } from "../command-options.ts";
import { parseDuration } from "../deployments/duration.ts";
import { CliError, isOutdated } from "../errors.ts";
import { KINDS } from "../named-kinds.ts";
import { parseWholeNumber } from "../numbers.ts";
import { requireConsent } from "../prompts.ts";
import { checkRuleOptions, type RuleOptions, readRules } from "../protection/rule-options.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { renderFields } from "../table.ts";
import { addProjectOption, type ProjectOptions, requireEnvironment } from "../target.ts";

type Environment = Schemas["Environment"];
type Rules = Schemas["EnvironmentProtection"];

interface Options extends RuleOptions, ProjectOptions {
  show?: boolean;
  remove?: boolean;
  json?: boolean;
  yes?: boolean;
  profile?: string;
}

const PROTECTION = "/v1/environments/{environment_id}/protection";
const EXEMPTIONS = ["rollback", "restart"] as const satisfies readonly Schemas["Exemption"][];
const MAXIMUM_NAMES = 1_000;

const HELP = `
The options replace all rules: a rule without an option is removed. If the environment has rules, the command asks
first; without a terminal, it needs --yes. See docs/protection.md.`;

/** `longshore protect`: the rules of an environment. */
export function addProtectCommand(program: Command, context: CliContext): void {
  const command = addProjectOption(program.command("protect"))
    .description("set the rules of an environment: what a deployment needs before it starts")
    .argument("<environment>", "name or ID")
    .option("--show", "print the rules, and change nothing")
    .option("--remove", "remove all rules");
  addRuleOptions(command);
  addConsentOption(command)
    .option("--json", "print the rules as JSON, for programs")
    .addHelpText("after", HELP);
  addExamples(
    command,
    "protect production --approvals 1 --by owners",
    "protect production --from staging:1h --window 'mon-thu 09:00-16:00 Europe/Berlin' --exempt rollback",
    "protect production --source github:1296269@refs/heads/main",
    "protect production --show",
  ).action((name: string, _, self: Command) => protect(context, name, self.optsWithGlobals()));
}

function addRuleOptions(command: Command): void {
  const who = "owners, contributors, or a member by name or ID; may be repeated for members";
  command
    .option("--approvals <number>", "how many people have to approve", parseWholeNumber)
    .option("--by <who>", `who may approve: ${who}; owners by default`, collect)
    .option("--self-approval", "people may approve their own deployments")
    .option(
      "--expires <duration>",
      "when a deployment without approval is canceled; a day by default",
      parseDuration,
    )
    .option(
      "--from <environment[:duration]>",
      "where the same must have succeeded, and for how long, such as staging:1h; may be repeated",
      collect,
    )
    .option("--same-configuration", "with --from: the configuration has to be the same, too")
    .option(
      "--except <path>",
      "a part that may differ, such as /replicas; may be repeated",
      collect,
    )
    .option(
      "--source <issuer:repository@ref>",
      "only CI jobs of this repository and ref, such as github:1296269@refs/heads/main; may be repeated",
      collect,
    )
    .option("--protected-refs", "with --source: only refs that the code host protects")
    .option(
      "--window <times>",
      "when deployments may start, such as 'mon-thu 09:00-16:00 Europe/Berlin'; may be repeated",
      collect,
    )
    .addOption(
      new Option(
        "--exempt <what...>",
        "what skips these rules and freezes, but still waits its turn",
      ).choices(EXEMPTIONS),
    )
    .option("--group <name>", "deploy only one environment of this group at a time")
    .option("--deploy <who>", `who may deploy: ${who}`, collect)
    .option("--configure <who>", `who may write variables and the configuration: ${who}`, collect);
}

async function protect(context: CliContext, name: string, options: Options): Promise<void> {
  const { show, remove, json, yes, profile, project, ...rules } = options;
  const isEmpty = Object.keys(rules).length === 0;
  if (isEmpty === !(show || remove) || (show && remove)) {
    throw new CliError("Name either rules, such as --approvals 1, or --show, or --remove.");
  }
  checkRuleOptions(rules);
  const session = await openSession(context, options);
  const target = { environment: name, ...(project !== undefined && { project }) };
  const environment = await requireEnvironment(context, session, target);
  if (!show) return replace(context, session, environment, options);
  const { before } = await readProtection(session, environment);
  if (json) return context.output.json(before);
  const nameOf = await readNames(session, environment, [before]);
  context.output.print(renderFields(describeRules(before, nameOf)));
}

async function replace(
  context: CliContext,
  session: Session,
  environment: Environment,
  options: Options,
): Promise<void> {
  const { id, name, project_id } = environment;
  const body = options.remove ? {} : await readRules(session, project_id, options);
  const { before, version } = await readProtection(session, environment);
  const rules = namesOfRules(before);
  if (rules.length > 0) {
    const verb = options.remove ? "Remove" : "Replace";
    const question = `${verb} the rules of ${name}: ${rules.join(", ")}?`;
    await requireConsent(context, question, options);
  }
  const path = { environment_id: id };
  const after = await session.client
    .put(PROTECTION, { path, body, ifMatch: version })
    .catch((error: unknown) => {
      if (!isOutdated(error)) throw error;
      throw new CliError(
        `Somebody has changed the rules of ${name} since. Nothing was written. Run: longshore protect ${name} --show`,
      );
    });
  if (options.json) return context.output.json(after);
  printChange(context, before, after, await readNames(session, environment, [before, after]));
}

async function readProtection(session: Session, { id }: Environment) {
  const path = { environment_id: id };
  const response = await session.client.request("GET", PROTECTION, { path });
  const before = (await response.json()) as Rules;
  return { before, version: response.headers.get("etag") ?? "*" };
}

/** Which rules there are, besides access as without rules. */
function namesOfRules({ access, ...rules }: Rules): string[] {
  const isOpen = Object.values(access).every(({ role }) => role === "contributor");
  const names = ["approvals", "from", "sources", "windows", "exempt", "group"] as const;
  return [isOpen ? [] : "access", names.filter((name) => rules[name] !== undefined)].flat();
}

/** The names of the environments and members in the rules. Not everybody who may set rules may read the members. */
async function readNames(
  session: Session,
  { project_id }: Environment,
  rules: readonly Rules[],
): Promise<NameOf> {
  const members = rules.flatMap(({ access, approvals }) => [
    ...Object.values(access),
    ...(approvals ? [approvals.approvers] : []),
  ]);
  const names = new Map<string, string>();
  if (rules.some(({ from }) => from)) {
    const { rows } = await session.list<Environment>(KINDS.environment.listPath, {
      path: { project_id },
      limit: MAXIMUM_NAMES,
    });
    for (const { id, name } of rows) names.set(id, name);
  }
  if (members.some((each) => each.membership_ids)) {
    const org_id = await session.organizationId();
    const { rows } = await session
      .list<Schemas["Member"]>(KINDS.member.listPath, { path: { org_id }, limit: MAXIMUM_NAMES })
      .catch((error: unknown) => {
        if (error instanceof ApiError) return { rows: [] };
        throw error;
      });
    for (const { membership_id, name } of rows) names.set(membership_id, name);
  }
  return (id) => names.get(id) ?? id;
}

function printChange({ output }: CliContext, before: Rules, after: Rules, nameOf: NameOf): void {
  const [old, current] = [describeRules(before, nameOf), describeRules(after, nameOf)];
  const lines = (rules: typeof old, others: typeof old, sign: string) =>
    rules
      .filter(([title, text]) => !others.some((each) => each[0] === title && each[1] === text))
      .map(([title, text]) => `${sign} ${title}: ${text}`);
  const [removed, added] = [lines(old, current, "-"), lines(current, old, "+")];
  for (const line of removed) output.print(output.paint("red", line));
  for (const line of added) output.print(output.paint("green", line));
  if (removed.length + added.length === 0) output.note("The rules are the same as before.");
}
