import { type Command, Option } from "commander";
import type { Schemas } from "../../client/src/index.ts";
import { CliError } from "./errors.ts";
import { describeOwner } from "./key-owner.ts";
import { toLocalTime } from "./local-time.ts";
import type { RecordOptions } from "./output.ts";
import { toPlainText } from "./plain-text.ts";
import { choose, requireConsent } from "./prompts.ts";
import type { CliContext, Session } from "./session.ts";
import { type Column, renderTable } from "./table.ts";

type FamilyItem = Schemas["FamilyItem"];
type Descendants = Schemas["Descendants"];

/** A key or a session, whose family is what was made with it. */
export interface FamilyRoot {
  /** For people, such as "the API key laptop". */
  what: string;
  itemPath: string;
  /** The parameters of `itemPath`. */
  path: Record<string, string>;
  hasEnded: boolean;
}

export interface RevokeOptions {
  descendants?: Descendants;
  yes?: boolean;
  profile?: string;
}

const DESCENDANTS = ["revoke", "keep"] as const satisfies readonly Descendants[];

/** For people, in the order in which they are listed. */
const TYPE_NAMES: Record<FamilyItem["type"], string> = {
  organization: "organization",
  member: "member",
  api_key: "API key",
  trust: "trust",
  runner_token: "runner token",
  invitation: "invitation",
  session: "session",
  sign_in_link: "sign-in link",
};
const ORDER = Object.keys(TYPE_NAMES);

const COUNT_NAMES: Record<keyof Schemas["FamilyCounts"], string> = {
  api_keys: "API keys",
  runner_tokens: "runner tokens",
  trusts: "trusts",
  invitations: "invitations",
};

/** What `--descendants` decides about. Sessions and sign-in links end with their keys, and members stay. */
const DECIDED = new Set<FamilyItem["type"]>(["api_key", "runner_token", "trust", "invitation"]);

const COLUMNS: readonly Column<FamilyItem>[] = [
  { title: "type", value: ({ type }) => TYPE_NAMES[type] },
  { title: "name", value: ({ name }) => name },
  { title: "id", value: ({ id }) => id },
  { title: "role", value: ({ role }) => role },
  {
    title: "owner",
    value: (item) => (item.owner ? describeOwner(item.owner) : item.membership_id),
  },
  { title: "created", value: (item) => toLocalTime(item.created_at) },
  { title: "counts", value: showCounts },
];

/** More than the quotas of an organization permit. */
const MAXIMUM_ITEMS = 10_000;

export function addDescendantsOption(command: Command): Command {
  return command.addOption(
    new Option("--descendants <action>", "what happens to its family").choices(DESCENDANTS),
  );
}

/** Prints at most `--limit` items, grouped by their types. */
export async function printFamily(
  { output }: CliContext,
  session: Session,
  root: FamilyRoot,
  options: RecordOptions & { limit: number },
): Promise<void> {
  const { limit } = options;
  const { rows, hasMore } = await listFamily(session, root, limit);
  output.records(rows, COLUMNS, { ...options, id: ({ id }) => id });
  if (hasMore) output.note(`There are more than ${limit}: add --limit.`);
  if (options.json || options.quiet) return;
  const remarks = rows.length === 0 ? [`Nothing is left that ${root.what} has made.`] : [];
  for (const remark of [...remarks, ...remarksOn(rows)]) output.note(remark);
}

/** Prints the family, asks what to do, and revokes. */
export async function revokeWithFamily(
  context: CliContext,
  session: Session,
  root: FamilyRoot,
  options: RevokeOptions,
): Promise<void> {
  const { itemPath, path } = root;
  const what = toPlainText(root.what);
  const { rows, hasMore } = await listFamily(session, root, MAXIMUM_ITEMS);
  if (rows.length > 0) {
    const more = hasMore ? ["…"] : [];
    const lines = [`The family of ${what}:`, renderTable(COLUMNS, rows), ...more];
    context.output.note([...lines, ...remarksOn(rows)].join("\n"));
  }
  const descendants = await decide(context, { ...root, what }, rows, options);
  await session.remove(itemPath, path, descendants && { descendants });
  const withFamily = descendants === "revoke" ? " with its family" : "";
  context.output.note(`Revoked ${what}${withFamily}.`);
}

async function decide(
  context: CliContext,
  { what, hasEnded }: FamilyRoot,
  family: readonly FamilyItem[],
  options: RevokeOptions,
): Promise<Descendants | undefined> {
  const { descendants, yes } = options;
  if (descendants !== undefined || !family.some(isDecided)) {
    const also =
      descendants && (descendants === "revoke" ? " with its family" : ", not its family");
    await requireConsent(context, `Revoke ${what}${also ?? ""}?`, options);
    return descendants;
  }
  const consent = yes ? "" : ", and --yes to do so without a terminal";
  const refusal = `What is to happen to the family of ${what}? Add --descendants revoke or --descendants keep${consent}.`;
  if (yes) throw new CliError(refusal);
  const keep = { value: "keep", label: "Revoke it, and keep its family" };
  const choices = [
    { value: "revoke", label: hasEnded ? "Revoke its family" : "Revoke it with its family" },
    ...(hasEnded ? [] : [keep]),
    { value: "nothing", label: "Do nothing" },
  ];
  const answer = await choose(context, `Revoke ${what}?`, choices, refusal, "nothing");
  const decision = DESCENDANTS.find((each) => each === answer);
  if (decision === undefined) throw new CliError("Nothing was changed.");
  return decision;
}

async function listFamily(session: Session, { itemPath, path }: FamilyRoot, limit: number) {
  const { rows, hasMore } = await session.list<FamilyItem>(`${itemPath}/family`, { path, limit });
  rows.sort((one, other) => ORDER.indexOf(one.type) - ORDER.indexOf(other.type));
  return { rows, hasMore };
}

function isDecided({ type, counts }: FamilyItem): boolean {
  return DECIDED.has(type) || Object.values(counts ?? {}).some((count) => count > 0);
}

/** The commands have IDs only: a name could be a command for the shell. */
function remarksOn(family: readonly FamilyItem[]): string[] {
  const has = (...types: FamilyItem["type"][]) => family.some(({ type }) => types.includes(type));
  const members = family.filter(({ type }) => type === "member");
  return [
    has("session", "sign_in_link") ? "Sessions and sign-in links end with their keys." : [],
    has("organization")
      ? "Of another organization, only the counts are listed, and only an owner revokes there."
      : [],
    members.length > 0 ? "The members stay. Remove those that you do not know:" : [],
    members.map(({ id }) => `  longshore members rm ${toPlainText(id)}`),
  ].flat();
}

function showCounts({ counts }: FamilyItem): string | undefined {
  if (!counts) return undefined;
  const parts = Object.entries(COUNT_NAMES).flatMap(([field, name]) => {
    const count = counts[field as keyof typeof counts];
    return count > 0 ? [`${name}: ${count}`] : [];
  });
  return parts.join(", ") || "none";
}
