import { humanize } from "../../format.ts";
import type { Activity, Row } from "./merge.ts";

interface Target {
  type: string;
  id: string;
  name?: string | undefined;
  trigger?: string | undefined;
}

/** A word, or the name of something, with the path of its page below the root of the console. */
export interface Part {
  text: string;
  isName?: true;
  path?: string | undefined;
}

/** By action. `*` is the target, `#` its type, and `@` its environment; what is in brackets needs one. */
const SENTENCES: Readonly<Record<string, string>> = {
  "account.deleted": "deleted their account",
  "account.updated": "changed their profile",
  "audit_log.exported": "exported the audit log",
  "component.created": "added #*[ to @]",
  "component.deleted": "deleted #*[ from @]",
  "component.updated": "changed #*[ in @]",
  "credential.admitted": "admitted *",
  "deployment.approved": "approved *[ for @]",
  "deployment.canceled": "canceled *[ to @]",
  "deployment.created": "deployed *[ to @]",
  "deployment.overridden": "overrode the rules[ of @] for *",
  "deployment.rejected": "rejected *[ for @]",
  "environment.protection_changed": "changed the protection of *[ in @]",
  "escalation.refused": "was refused more access to *",
  "integration.confirmed": "confirmed *[ in @]",
  "integration.disabled": "disabled *[ in @]",
  "integration.failing": "reported that *[ in @] fails",
  "integration.paused": "paused *[ in @]",
  "integration.resumed": "resumed *[ in @]",
  "integration.secret_rotated": "replaced the secret of *[ in @]",
  "invitation.accepted": "accepted the invitation",
  "invitation.created": "invited a person",
  "invitation.declined": "declined the invitation",
  "invitation.revoked": "revoked an invitation",
  "member.activated": "accepted the membership",
  "member.added": "added * to the organization",
  "member.removed": "removed * from the organization",
  "member.role_changed": "changed the role of *",
  "organization.key_policy_changed": "changed the maximum age of API keys",
  "project.connected": "connected *",
  "project.disconnected": "disconnected *",
  "project_member.added": "added * to the project",
  "project_member.removed": "removed * from the project",
  "project_member.role_changed": "changed the project role of *",
  "project_members.added": "added members to *",
  "quotas.changed": "changed the quotas of *",
  "session.created": "signed in",
  "session.revoked": "ended a session",
  "sign_in_link.created": "created a sign-in link",
  "stack.created": "added #*[ to @]",
  "stack.deleted": "deleted #*[ from @]",
  "stack.updated": "changed #*[ in @]",
  "trust.exchanged": "exchanged a CI token for *",
  "variable.created": "added *[ to @]",
  "variable.deleted": "deleted *[ from @]",
  "variable.revealed": "revealed *[ of @]",
  "variable.updated": "changed *[ in @]",
  "variables.delivered": "read the variables[ of @]",
  "variables.revealed": "revealed the variables of *[ in @]",
  "variables.written": "wrote variables of *[ in @]",
};

const DEPLOYED: Readonly<Record<string, string>> = {
  promotion: "promoted *[ to @]",
  redeployment: "redeployed *[ to @]",
  rollback: "rolled back[ @] to *",
};

const NOUNS: Readonly<Record<string, string>> = {
  api_key: "API key",
  deployment: "change",
  project_member: "member",
};

/** The names of projects by ID. Undefined: the page is that of a project, which it need not name. */
type Projects = ReadonlyMap<string, string> | undefined;

export function sentenceOf({ activity, count }: Row, projects: Projects): Part[] {
  const { action } = activity;
  const targets = projects
    ? targetsOf(activity, projects)
    : targetsOf(activity).filter(isBelowProject);
  const [target] = targets;
  const write = (template: string) => fill(template, { action, targets });
  const actor = { text: actorOf(activity), isName: true } as const;
  if (action === "variables.delivered" && count > 1) {
    return [...write("Variables[ of @] read by "), actor, { text: `, ${count} times` }];
  }
  const template =
    (action === "deployment.created" ? DEPLOYED[target?.trigger ?? ""] : undefined) ??
    SENTENCES[action] ??
    `${verbOf(action)} #*[ in @]`;
  return [actor, { text: " " }, ...write(template), ...detailsOf(activity)];
}

/** Whether a target is named on a project's page, which names the project only where it is what was changed. */
function isBelowProject({ type }: Target, at: number): boolean {
  return at === 0 || type !== "project";
}

/** `runner_pool.created` becomes "created". */
function verbOf(action: string): string {
  return action.slice(action.indexOf(".") + 1).replaceAll("_", " ");
}

export function nounOf(type: string): string {
  return NOUNS[type] ?? humanize(type).toLowerCase();
}

interface Said {
  action: string;
  targets: readonly Target[];
}

const SCOPES = ["component", "environment", "project"];

function fill(template: string, said: Said): Part[] {
  const [target, ...parents] = said.targets;
  const scopes = parents.filter(({ type }) => SCOPES.includes(type)).toReversed();
  const text = template
    .replaceAll(/[[]([^\]]*)\]/g, scopes.length > 0 ? "$1" : "")
    .replace("#", target?.name ? `${nounOf(target.type)} ` : "");
  return text.split(/([*@])/).flatMap((each): Part[] => {
    if (each === "*") return target ? [nameOf(target, said)] : [];
    if (each !== "@") return each === "" ? [] : [{ text: each }];
    return scopes.flatMap((scope, at) => [
      ...(at > 0 ? [{ text: " / " }] : []),
      nameOf(scope, said),
    ]);
  });
}

function nameOf(target: Target, said: Said): Part {
  const { name, type } = target;
  const isDeleted = target === said.targets[0] && said.action.endsWith(".deleted");
  const path = isDeleted ? undefined : pathOf(target, said.targets);
  if (name) return { text: name, isName: true, path };
  const noun = nounOf(type);
  return { text: `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`, path };
}

/** Undefined: it has no page, or what it was in is deleted, and so is it. */
function pathOf({ type, id }: Target, targets: readonly Target[]): string | undefined {
  const idOf = (parent: string) => targets.find((each) => each.type === parent)?.id;
  const environment = idOf("environment");
  const component = idOf("component");
  switch (type) {
    case "project":
      return `projects/${id}`;
    case "environment":
      return `environments/${id}`;
    case "component":
      return environment && `components/${id}/variables`;
    case "stack":
      return environment && `stacks/${id}`;
    case "deployment":
      return environment && `deployments/${id}`;
    case "variable":
      if (component) return `components/${component}/variables`;
      return environment && `environments/${environment}/variables`;
    case "member":
    case "project_member":
      return `organization/members/${id}`;
    case "runner_pool":
      return `runners/${id}`;
    default:
      return undefined;
  }
}

/** How many names of a bulk write are in its sentence. */
const MOST_NAMES = 3;

/** What follows the sentence: the roles, or the names of several variables. */
function detailsOf(activity: Activity): Part[] {
  const { before = {}, after = {} } = changedFieldsOf(activity);
  if (activity.action.endsWith("role_changed") && before["role"] && after["role"]) {
    return [{ text: ` from ${before["role"]} to ${after["role"]}` }];
  }
  if (activity.action !== "variables.written") return [];
  const lists = Object.values(after) as { names?: readonly string[]; count?: number }[];
  const names = lists.flatMap((each) => each.names ?? []);
  const count = lists.reduce((sum, each) => sum + (each.count ?? 0), 0);
  const shown = names.slice(0, MOST_NAMES);
  if (shown.length === 0) return [];
  const more = count - shown.length;
  return [
    { text: ": " },
    ...shown.flatMap((text, at): Part[] => [
      ...(at > 0 ? [{ text: ", " }] : []),
      { text, isName: true },
    ]),
    ...(more > 0 ? [{ text: ` and ${more} more` }] : []),
  ];
}

type Fields = Readonly<Record<string, unknown>>;

/** The changelog has more of a change than the audit log. */
export function changedFieldsOf({ record, changes }: Activity): {
  before?: Fields | undefined;
  after?: Fields | undefined;
} {
  const [change, ...others] = changes;
  return change && others.length === 0 && record?.action !== "variables.written"
    ? change
    : (record?.changes ?? {});
}

/** The target, then what it is in. The changelog leaves out its project. */
export function targetsOf(
  { record, changes }: Activity,
  projects: ReadonlyMap<string, string> = new Map(),
): readonly Target[] {
  if (record) return record.targets;
  const [change] = changes;
  if (!change) return [];
  const { project_id: id, targets } = change;
  const name = projects.get(id);
  const isKnown = name === undefined || targets.some((target) => target.id === id);
  return isKnown ? targets : [...targets, { type: "project", id, name }];
}

export function actorOf({ record, changes }: Activity): string {
  const change = changes[0]?.actor;
  if (!record) return change ? (change.name ?? REMOVED) : "Longshore";
  const { name, type, membership_id } = record.actor;
  return name ?? ACTORS[type] ?? (membership_id || change ? REMOVED : "Somebody");
}

const REMOVED = "A removed member";

const ACTORS: Readonly<Record<string, string>> = {
  bootstrap_token: "The installation",
  invitation: "An invited person",
  operator: "An operator",
  runner_token: "A deleted runner pool",
  service: "Longshore",
  trust: "A deleted trust",
};
