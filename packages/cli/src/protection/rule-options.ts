import type { CodeHostIssuer } from "../../../../src/lib/job-source.ts";
import type { Schemas } from "../../../client/src/index.ts";
import { parseDuration } from "../deployments/duration.ts";
import { CliError } from "../errors.ts";
import { KINDS } from "../named-kinds.ts";
import { findRecord } from "../names.ts";
import type { Session } from "../session.ts";

type Rules = Schemas["ReplaceProtection"];
type Members = Schemas["ProtectionMembers"];
type Weekday = Schemas["Weekday"];

/** The options that are rules, as the command line has read them. */
export interface RuleOptions {
  deploy?: string[];
  configure?: string[];
  approvals?: number;
  by?: string[];
  selfApproval?: boolean;
  expires?: number;
  from?: string[];
  sameConfiguration?: boolean;
  except?: string[];
  source?: string[];
  protectedRefs?: boolean;
  window?: string[];
  exempt?: Schemas["Exemption"][];
  group?: string;
}

/** Options that only change another one. */
const NEEDS = {
  by: "approvals",
  selfApproval: "approvals",
  expires: "approvals",
  sameConfiguration: "from",
  except: "sameConfiguration",
  protectedRefs: "source",
} as const satisfies Partial<Record<keyof RuleOptions, keyof RuleOptions>>;

const ROLES = {
  owner: "owner",
  owners: "owner",
  contributor: "contributor",
  contributors: "contributor",
} as const;

const ISSUERS: Readonly<Record<string, CodeHostIssuer>> = {
  github: "https://token.actions.githubusercontent.com",
  gitlab: "https://gitlab.com",
};

const DAYS = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
] as const satisfies readonly Weekday[];

const WINDOW = /^(\S+) ([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d) (\S+)$/;
/** The duration after the name of an environment. */
const DURATION = /^(.+):(\d[\d.a-z]*)$/;
/** The name of a trust may have a colon, too. */
const SOURCE = /^(.+):(\d+)@(refs\/.+)$/;

/** @throws CliError for an option that another one is missing for. */
export function checkRuleOptions(options: RuleOptions): void {
  for (const [name, needed] of Object.entries(NEEDS)) {
    if (options[name as keyof typeof NEEDS] === undefined || options[needed] !== undefined)
      continue;
    throw new CliError(`${toFlag(name)} needs ${toFlag(needed)}.`);
  }
}

function toFlag(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The rules of the options, and none besides. */
export async function readRules(
  session: Session,
  projectId: string,
  options: RuleOptions,
): Promise<Rules> {
  const { deploy, configure, approvals, from, source, window: windows, exempt, group } = options;
  return {
    ...((deploy || configure) && {
      access: {
        ...(deploy && { deploy: await readMembers(session, "--deploy", deploy) }),
        ...(configure && { configure: await readMembers(session, "--configure", configure) }),
      },
    }),
    ...(approvals !== undefined && { approvals: await readApprovals(session, approvals, options) }),
    ...(from && { from: await readFrom(session, projectId, from, options) }),
    ...(source && { sources: await readSources(session, source, options) }),
    ...(windows && { windows: readWindows(windows) }),
    ...(exempt && { exempt: [...new Set(exempt)] }),
    ...(group !== undefined && { group }),
  };
}

/** A role, or members by name or ID. */
async function readMembers(
  session: Session,
  option: string,
  texts: readonly string[],
): Promise<Members> {
  const [role] = texts.flatMap((text) => ROLES[text as keyof typeof ROLES] ?? []);
  if (role && texts.length === 1) return { role };
  if (role) {
    throw new CliError(`${option} takes either owners or contributors, or members by name or ID.`);
  }
  const path = { org_id: await session.organizationId() };
  const members = await Promise.all(
    texts.map((text) => findRecord<Schemas["Member"]>(session, KINDS.member, path, text)),
  );
  return { membership_ids: [...new Set(members.map((member) => member.membership_id))] };
}

async function readApprovals(
  session: Session,
  required: number,
  { by = ["owners"], selfApproval, expires }: RuleOptions,
): Promise<Schemas["ProtectionApprovals"]> {
  return {
    required,
    approvers: await readMembers(session, "--by", by),
    ...(selfApproval && { prevent_self_approval: false }),
    ...(expires !== undefined && { expires_after_seconds: toSeconds(expires) }),
  };
}

async function readFrom(
  session: Session,
  projectId: string,
  texts: readonly string[],
  { sameConfiguration, except = [] }: RuleOptions,
): Promise<Schemas["ProtectionFrom"]> {
  const places = texts.map((text) => {
    const [, name = text, duration] = DURATION.exec(text) ?? [];
    return { name, seconds: duration === undefined ? 0 : toSeconds(parseDuration(duration)) };
  });
  const [seconds = 0, ...others] = new Set(places.map((place) => place.seconds));
  if (others.length > 0) {
    throw new CliError("--from takes one duration. Write the same after each environment.");
  }
  const path = { project_id: projectId };
  const environments = await Promise.all(
    places.map(({ name }) =>
      findRecord<Schemas["Environment"]>(session, KINDS.environment, path, name),
    ),
  );
  return {
    environment_ids: environments.map(({ id }) => id),
    minimum_seconds: seconds,
    ...(sameConfiguration && { same_configuration: { except } }),
  };
}

function readSources(
  session: Session,
  texts: readonly string[],
  { protectedRefs }: RuleOptions,
): Promise<Schemas["ProtectionSource"][]> {
  const sources = texts.map(async (text) => {
    const [, who = "", repository_id = "", ref = ""] = SOURCE.exec(text) ?? [];
    if (!who) {
      throw new CliError(
        `Write --source as github:1296269@refs/heads/main; "${text}" is not. Instead of github: gitlab, or a trust.`,
      );
    }
    const issuer = ISSUERS[who];
    return {
      ...(issuer ? { issuer } : { trust_ids: [await findTrust(session, who)] }),
      ...{ repository_id, ref },
      ...(protectedRefs && { protected_ref: true }),
    };
  });
  return Promise.all(sources);
}

async function findTrust(session: Session, text: string): Promise<string> {
  const path = { org_id: await session.organizationId() };
  return (await findRecord<Schemas["Trust"]>(session, KINDS.trust, path, text)).id;
}

function readWindows(texts: readonly string[]): Schemas["ProtectionWindows"] {
  const windows = texts.map((text) => {
    const [, days = "", fromHour, fromMinute, toHour, toMinute, zone = ""] =
      WINDOW.exec(text) ?? [];
    const weekdays = readDays(days);
    if (weekdays.length === 0) {
      throw new CliError(
        `Write --window as "mon-thu 09:00-16:00 Europe/Berlin"; "${text}" is not. Write days as mon,wed or fri-sun.`,
      );
    }
    return {
      zone,
      weekly: { days: weekdays, from: `${fromHour}:${fromMinute}`, to: `${toHour}:${toMinute}` },
    };
  });
  const [time_zone = "", ...others] = new Set(windows.map(({ zone }) => zone));
  if (others.length > 0) {
    throw new CliError(
      `--window takes one time zone. Write the same after each, such as ${time_zone}.`,
    );
  }
  return { time_zone, weekly: windows.map(({ weekly }) => weekly) };
}

/** The days of `mon-wed,fri`, in the order of a week. Empty: the text names none. */
function readDays(text: string): Weekday[] {
  const days = new Set<Weekday>();
  for (const part of text.split(",")) {
    const [first = -1, last = first, ...others] = part.split("-").map(indexOfDay);
    if (first < 0 || last < 0 || others.length > 0) return [];
    for (let at = first; ; at = (at + 1) % DAYS.length) {
      const day = DAYS[at];
      if (day) days.add(day);
      if (at === last) break;
    }
  }
  return DAYS.filter((day) => days.has(day));
}

/** The index of `mon` or `Monday`. -1: the text is not a day. */
function indexOfDay(text: string): number {
  const name = text.toLowerCase();
  return DAYS.findIndex((day) => day === name || day.slice(0, 3) === name);
}

function toSeconds(ms: number): number {
  return Math.round(ms / 1_000);
}
