import type { Schemas } from "../../../../client/src/index.ts";

type Protection = Schemas["EnvironmentProtection"];
/** What is replaced: the rules without what the service adds. */
export type Rules = Omit<Protection, "environment_id" | "updated_at" | "approvers_verified_by">;
export type Members = Schemas["EnvironmentMembers"];
export type Source = Schemas["EnvironmentSource"];
export type Weekday = Schemas["Weekday"];

/** A rule that is off keeps what was entered, until the page is left. */
interface Switched<T> {
  isOn: boolean;
  value: T;
}

type RuleName = keyof Rules;

export type RulesForm = { readonly [Name in RuleName]-?: Switched<NonNullable<Rules[Name]>> } & {
  /** Rules of a newer service: sent back as they are. */
  readonly others: object;
};

/** What a rule begins with when it is turned on. */
export interface Suggestions {
  /** The environment that comes before. Undefined: there is no other. */
  environmentId: string | undefined;
  timeZone: string;
}

const DAY_SECONDS = 86_400;
const GITHUB = "https://token.actions.githubusercontent.com";

/** In the order of a calendar. */
export const WEEK = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
] as const satisfies readonly Weekday[];

export const NEW_WINDOW = {
  days: ["monday", "tuesday", "wednesday", "thursday"],
  from: "09:00",
  to: "16:00",
} satisfies Schemas["EnvironmentWindows"]["weekly"][number];

export const NEW_SOURCE = {
  issuer: GITHUB,
  repository_id: "",
  ref: "refs/heads/main",
} satisfies Source;

export function toForm(rules: Rules, suggested: Suggestions): RulesForm {
  const { access, approvals, from, windows, sources, group, exempt, ...others } = rules;
  const { environmentId } = suggested;
  return {
    access: {
      isOn: JSON.stringify(access) !== JSON.stringify(accessWithout(approvals !== undefined)),
      value: access,
    },
    approvals: switchOf(approvals, {
      required: 1,
      approvers: { role: "owner" },
      prevent_self_approval: true,
      expires_after_seconds: DAY_SECONDS,
    }),
    from: switchOf(from, {
      environment_ids: environmentId === undefined ? [] : [environmentId],
      minimum_seconds: 0,
    }),
    windows: switchOf(windows, { time_zone: suggested.timeZone, weekly: [NEW_WINDOW] }),
    sources: switchOf(sources, [NEW_SOURCE]),
    group: switchOf(group, ""),
    exempt: switchOf(exempt, ["rollback"]),
    others,
  };
}

export function toRules(form: RulesForm): Rules {
  const { access, approvals, from, windows, sources, group, exempt, others } = form;
  return {
    ...others,
    access: access.isOn ? access.value : accessWithout(approvals.isOn),
    ...(approvals.isOn && { approvals: approvals.value }),
    ...(from.isOn && { from: withoutBlankLines(from.value) }),
    ...(windows.isOn && { windows: windows.value }),
    ...(sources.isOn && { sources: sources.value }),
    ...(group.isOn && { group: group.value }),
    ...(exempt.isOn && exempt.value.length > 0 && { exempt: exempt.value }),
  };
}

/** A line that is still empty is no path. */
function withoutBlankLines(from: NonNullable<Rules["from"]>): NonNullable<Rules["from"]> {
  const { same_configuration: same, ...rest } = from;
  if (!same) return from;
  return { ...rest, same_configuration: { ...same, except: same.except.filter(Boolean) } };
}

/** The default of the service. Whoever changes what is deployed could otherwise go around the approvers. */
function accessWithout(hasApprovals: boolean): Rules["access"] {
  return {
    deploy: { role: "contributor" },
    configure: { role: hasApprovals ? "owner" : "contributor" },
  };
}

function switchOf<T>(value: T | undefined, suggested: T): Switched<T> {
  return { isOn: value !== undefined, value: value ?? suggested };
}

/** The rules, turned on or off. Access begins with what holds without it. */
export function turn(form: RulesForm, name: RuleName, isOn: boolean): RulesForm {
  const { value } = form[name];
  const begun = name === "access" && isOn ? accessWithout(form.approvals.isOn) : value;
  return { ...form, [name]: { isOn, value: begun } };
}

/** Adds or removes a member, environment or day. Those of `order` keep its order. */
export function toggle<T extends string>(
  chosen: readonly T[],
  value: T,
  isChosen: boolean,
  order: readonly T[],
): T[] {
  const others = chosen.filter((each) => each !== value);
  const positionOf = (each: T) => (order.includes(each) ? order.indexOf(each) : order.length);
  return isChosen ? [...others, value].toSorted((a, b) => positionOf(a) - positionOf(b)) : others;
}

const SPAN_UNITS = [DAY_SECONDS, 3_600, 60, 1] as const;

/** The largest unit that leaves no fraction, in seconds. */
export function unitOf(seconds: number): number {
  if (seconds === 0) return 3_600;
  return SPAN_UNITS.find((unit) => seconds % unit === 0) ?? 1;
}

/** Code hosts whose tokens mean the same for everybody. */
export const ISSUERS = {
  [GITHUB]: "GitHub",
  "https://gitlab.com": "GitLab.com",
} satisfies Record<Schemas["CodeHostIssuer"], string>;

/** What has verified a source, as the value of an option: an issuer, or the IDs of trusts. */
export function verifierOf({ issuer, trust_ids }: Source): string {
  return issuer ?? trust_ids?.join(",") ?? "";
}

export function verifiedBy(source: Source, verifier: string): Source {
  const { issuer: _, trust_ids: __, ...rest } = source;
  if (verifier === "") return rest;
  return verifier in ISSUERS
    ? { ...rest, issuer: verifier as Schemas["CodeHostIssuer"] }
    : { ...rest, trust_ids: verifier.split(",") };
}
