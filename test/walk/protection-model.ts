/**
 * A second, simple model of protected environments: what was requested, and whether a start is allowed at a moment.
 * It decides by content, which it computes from its own copy of the state: it shares nothing with the service but the
 * form of the rules.
 */
export interface WalkRules {
  approvals?: {
    required: number;
    approvers: { role?: string; membership_ids?: string[] };
    prevent_self_approval: boolean;
    expires_after_seconds: number;
  };
  windows?: { time_zone: "UTC"; weekly: { days: string[]; from: string; to: string }[] };
  from?: { environment_ids: string[]; minimum_seconds: number };
  group?: string;
  exempt?: string[];
}

export interface WalkFreeze {
  id: string;
  start: number;
  end: number;
  environments: readonly string[] | undefined;
}

export interface WalkPerson {
  membershipId: string;
  key: string;
  isOrganizationOwner: boolean;
  /** The creators whose deployments the person does not approve before a sign-in. Undefined: nobody's, or there was one. */
  addedBy: string | undefined;
  /** In the project. Undefined: none. */
  role: string | undefined;
}

export interface WalkStack {
  name: string;
  /** Undefined: none. */
  component: string | undefined;
}

/** What a deployment has started with. */
interface WalkStart {
  at: number;
  configuration: Record<string, number>;
  content: string;
  stackNames: string[];
}

interface WalkOverride {
  codes: readonly string[];
  /** Those that there were, which an override of `freeze` lifts. */
  freezeIds: readonly string[];
  content: string;
  version: number;
}

export interface WalkDeployment {
  id: string;
  environment: string;
  /** The person, or who has made the trust whose key has created it. */
  creator: string;
  createdAt: number;
  /** A change of the configuration of that moment, or a fixed one. */
  change: { set: Record<string, number> } | { fixed: Record<string, number> };
  source: string;
  stackIds: readonly string[];
  exempt: "restart" | "rollback" | undefined;
  /** What it redeploys. */
  repeated: WalkDeployment | undefined;
  kept: WalkRules[];
  /** The content that each person has approved. */
  approvals: Map<string, string>;
  override: WalkOverride | undefined;
  status: string;
  start: WalkStart | undefined;
  finishedAt: number | undefined;
}

interface WalkEnvironment {
  rules: WalkRules;
  configuration: Record<string, number>;
  /** Counts the changes of the configuration. */
  version: number;
  stacks: Map<string, WalkStack>;
  /** Which its stacks may have. */
  components: readonly string[];
}

/** `unclear`: the configuration has changed and is the same again, which the service may take for a change. */
export type Decision = "yes" | "no" | "unclear";

const DAY_NAMES = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const MINUTE_MS = 60_000;
/** As many successes of an environment as the service keeps for the comparison. */
const COMPARED_SUCCESSES = 20;
const minuteOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

const sorted = (configuration: Record<string, number>) =>
  JSON.stringify(Object.entries(configuration).toSorted(([a], [b]) => (a < b ? -1 : 1)));

export class ProtectionModel {
  readonly environments = new Map<string, WalkEnvironment>();
  readonly deployments = new Map<string, WalkDeployment>();
  readonly people = new Map<string, WalkPerson>();
  freezes: WalkFreeze[] = [];
  connection = "";

  addEnvironment(id: string, parts: Pick<WalkEnvironment, "stacks" | "components">): void {
    this.environments.set(id, { rules: {}, configuration: {}, version: 0, ...parts });
  }

  /** Its deployments are no longer compared with, and nothing is deployed there. */
  removeEnvironment(id: string): void {
    this.environments.delete(id);
  }

  environmentOf(environment: string): WalkEnvironment {
    const found = this.environments.get(environment);
    if (!found) throw new Error("No such environment");
    return found;
  }

  of(id: string): WalkDeployment {
    const found = this.deployments.get(id);
    if (!found) throw new Error("No such deployment");
    return found;
  }

  listQueued(): WalkDeployment[] {
    return [...this.deployments.values()].filter(({ status }) => status === "queued");
  }

  setRules(environment: string, rules: WalkRules): void {
    const found = this.environmentOf(environment);
    if (JSON.stringify(rules) === JSON.stringify(found.rules)) return;
    for (const each of this.listQueued()) {
      if (each.environment === environment && Object.keys(found.rules).length > 0)
        each.kept.push(found.rules);
    }
    found.rules = rules;
  }

  setConfiguration(environment: string, configuration: Record<string, number>): void {
    const found = this.environmentOf(environment);
    if (JSON.stringify(configuration) !== JSON.stringify(found.configuration)) found.version += 1;
    found.configuration = configuration;
  }

  /** What would start now: the configuration, the source, the stacks with names and components, and the connection. */
  contentOf(deployment: WalkDeployment): string {
    const stacks = this.#stacksOf(deployment).map(({ name, component }) => [name, component]);
    const parts = [deployment.source, stacks, this.connection];
    return `${sorted(this.resultOf(deployment))} ${JSON.stringify(parts)}`;
  }

  #stacksOf({ environment, stackIds }: WalkDeployment): WalkStack[] {
    const { stacks } = this.environmentOf(environment);
    return stackIds.flatMap((id) => stacks.get(id) ?? []);
  }

  start(deployment: WalkDeployment, at: number): void {
    deployment.start = {
      at,
      configuration: this.resultOf(deployment),
      content: this.contentOf(deployment),
      stackNames: this.#stacksOf(deployment).map(({ name }) => name),
    };
  }

  resultOf({ change, environment }: WalkDeployment): Record<string, number> {
    if ("fixed" in change) return change.fixed;
    return { ...this.environmentOf(environment).configuration, ...change.set };
  }

  /** What a redeployment of it would be exempt as. */
  exemptionOf(id: string): WalkDeployment["exempt"] {
    const { environment } = this.of(id);
    const started = [...this.deployments.values()].filter(
      (each) => each.environment === environment && each.start !== undefined,
    );
    const newest = started.at(-1);
    const before = started.slice(0, -1).findLast(({ status }) => status === "succeeded");
    if (newest?.id === id && newest.status === "succeeded") return "restart";
    return before?.id === id ? "rollback" : undefined;
  }

  /** Whether a start is allowed now. */
  mayStart(deployment: WalkDeployment, now: number): Decision {
    const open = this.openConditions(deployment, now);
    const { override, environment } = deployment;
    const isOverridden = override?.content === this.contentOf(deployment);
    const isLater = this.#isFrozen(deployment, now, override?.freezeIds);
    const left = open.filter((code) => {
      const isLifted = isOverridden && override?.codes.includes(code);
      return !isLifted || (code === "freeze" && isLater);
    });
    if (left.length > 0) return "no";
    const isChanged = override?.version !== this.environmentOf(environment).version;
    return open.length > 0 && isChanged ? "unclear" : "yes";
  }

  /** The codes of the conditions that are open, whoever overrides them. */
  openConditions(deployment: WalkDeployment, now: number): string[] {
    const rules = this.rulesOf(deployment);
    const isFree = (each: WalkRules) => this.#isExempt(each, deployment);
    const codes = rules.flatMap((each) => {
      const group = each.group !== undefined && this.#isGroupBusy(each.group, deployment);
      if (isFree(each)) return group ? ["group"] : [];
      return [
        ...(this.lacksApprovals(each, deployment) ? ["approvals"] : []),
        ...(each.windows && !isWithin(each.windows, now) ? ["window"] : []),
        ...(each.from && !this.#hasSucceeded(each.from, deployment, now) ? ["from"] : []),
        ...(group ? ["group"] : []),
      ];
    });
    const ignoresFreezes = rules.length > 0 && rules.every(isFree);
    return [...codes, ...(this.#isFrozen(deployment, now) && !ignoresFreezes ? ["freeze"] : [])];
  }

  /** Only while it would do what has succeeded. */
  #isExempt({ exempt = [] }: WalkRules, deployment: WalkDeployment): boolean {
    const { exempt: candidate, repeated } = deployment;
    if (candidate === undefined || !exempt.includes(candidate)) return false;
    return repeated?.start?.content === this.contentOf(deployment);
  }

  #isFrozen({ environment }: WalkDeployment, now: number, except: readonly string[] = []): boolean {
    return this.freezes.some(
      ({ id, start, end, environments }) =>
        start <= now &&
        now < end &&
        (environments?.includes(environment) ?? true) &&
        !except.includes(id),
    );
  }

  /** Whether approvals are missing after their time, so that it ends unless somebody has overridden that. */
  isExpired(deployment: WalkDeployment, now: number): boolean {
    const { createdAt } = deployment;
    return this.rulesOf(deployment).some(
      (each) =>
        each.approvals !== undefined &&
        !this.#isExempt(each, deployment) &&
        this.lacksApprovals(each, deployment) &&
        now >= createdAt + each.approvals.expires_after_seconds * 1_000,
    );
  }

  /** Those of the environment, and the earlier ones since its creation. */
  rulesOf({ kept, environment }: WalkDeployment): WalkRules[] {
    const { rules } = this.environmentOf(environment);
    return [...kept, ...(Object.keys(rules).length > 0 ? [rules] : [])];
  }

  /** Whether the person may decide about it by one of the rules. */
  isApprover(person: WalkPerson, rule: WalkRules, { creator }: WalkDeployment): boolean {
    const { approvals } = rule;
    if (!approvals || person.addedBy === creator) return false;
    if (approvals.prevent_self_approval && creator === person.membershipId) return false;
    const { role, membership_ids: ids } = approvals.approvers;
    if (role === "owner") return person.isOrganizationOwner || person.role === "owner";
    return (
      (ids ?? []).includes(person.membershipId) &&
      (person.isOrganizationOwner || person.role !== undefined)
    );
  }

  lacksApprovals(rule: WalkRules, deployment: WalkDeployment): boolean {
    if (!rule.approvals) return false;
    const content = this.contentOf(deployment);
    const counted = [...deployment.approvals].filter(([id, approved]) => {
      const person = this.people.get(id);
      return person && approved === content && this.isApprover(person, rule, deployment);
    });
    return counted.length < rule.approvals.required;
  }

  #isGroupBusy(group: string, { environment }: WalkDeployment): boolean {
    return [...this.deployments.values()].some(
      (each) =>
        each.environment !== environment &&
        ["in_progress", "canceling"].includes(each.status) &&
        this.environmentOf(each.environment).rules.group === group,
    );
  }

  /** Each of its stacks needs a success that had a stack of this name, in an environment that exists. */
  #hasSucceeded(
    { environment_ids: ids, minimum_seconds: seconds }: NonNullable<WalkRules["from"]>,
    deployment: WalkDeployment,
    now: number,
  ): boolean {
    const able = ids.flatMap((id) => {
      if (!this.environments.has(id)) return [];
      const successes = this.#successesOf(id);
      return successes.filter(({ source, createdAt, finishedAt = now }) => {
        const next = successes.findLast((other) => other.createdAt > createdAt);
        const until = next?.start?.at ?? now;
        return source === deployment.source && until - finishedAt >= seconds * 1_000;
      });
    });
    return this.#stacksOf(deployment).every(({ name }) =>
      able.some(({ start }) => start?.stackNames.includes(name)),
    );
  }

  /** The newest first. */
  #successesOf(environment: string): WalkDeployment[] {
    return [...this.deployments.values()]
      .filter((each) => each.environment === environment && each.status === "succeeded")
      .toSorted((a, b) => b.createdAt - a.createdAt)
      .slice(0, COMPARED_SUCCESSES);
  }
}

function isWithin({ weekly }: NonNullable<WalkRules["windows"]>, now: number): boolean {
  const minute = Math.floor(now / MINUTE_MS) % (24 * 60);
  const day = new Date(now).getUTCDay();
  return weekly.some(({ days, from, to }) => {
    const begins = (each: number) => days.includes(DAY_NAMES[each % 7] ?? "");
    const [start, end] = [minuteOf(from), minuteOf(to)];
    if (start < end) return begins(day) && start <= minute && minute < end;
    return (begins(day) && minute >= start) || (begins(day + 6) && minute < end);
  });
}
