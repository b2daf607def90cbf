import type {
  ApprovalRule,
  Exemption,
  Members,
  Rules,
  SourceRule,
  WindowRule,
} from "../../projects/access/model.ts";

/** A day. */
const DEFAULT_EXPIRY_SECONDS = 86_400;

export interface ProtectionInput {
  access?: { deploy?: Members | undefined; configure?: Members | undefined } | undefined;
  approvals?:
    | {
        required: number;
        approvers: Members;
        prevent_self_approval?: boolean | undefined;
        expires_after_seconds?: number | undefined;
      }
    | undefined;
  from?:
    | {
        environment_ids: string[];
        minimum_seconds?: number | undefined;
        same_configuration?: { except: string[] } | undefined;
      }
    | undefined;
  sources?: SourceRule[] | undefined;
  windows?: WindowRule | undefined;
  group?: string | undefined;
  exempt?: Exemption[] | undefined;
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** With all defaults. Undefined: no rules. */
export function toRules({
  access = {},
  approvals,
  from,
  ...rest
}: ProtectionInput): Rules | undefined {
  const { deploy, configure } = access;
  const parts = [deploy, configure, approvals, from, ...Object.values(rest)];
  if (parts.every((part) => part === undefined)) return undefined;
  return {
    access: {
      deploy: toMembers(deploy, "contributor"),
      // Who changes what is deployed could otherwise go around those who approve.
      configure: toMembers(configure, approvals ? "owner" : "contributor"),
    },
    ...(approvals && { approvals: toApprovalRule(approvals) }),
    ...(from && { from: { ...from, minimum_seconds: from.minimum_seconds ?? 0 } }),
    ...rest,
  };
}

function toApprovalRule(input: NonNullable<ProtectionInput["approvals"]>): ApprovalRule {
  return {
    required: input.required,
    approvers: toMembers(input.approvers, "owner"),
    prevent_self_approval: input.prevent_self_approval ?? true,
    expires_after_seconds: input.expires_after_seconds ?? DEFAULT_EXPIRY_SECONDS,
  };
}

function toMembers(sent: Members | undefined, role: "contributor" | "owner"): Members {
  const { membership_ids: ids } = sent ?? {};
  return ids ? { membership_ids: ids.toSorted() } : { role: sent?.role ?? role };
}

export function personsIn({ approvals }: ProtectionInput): readonly string[] {
  return approvals?.approvers.membership_ids ?? [];
}

export function trustsIn({ sources = [] }: ProtectionInput): readonly string[] {
  return [...new Set(sources.flatMap(({ trust_ids: ids = [] }) => ids))];
}

export function membersIn(input: ProtectionInput): readonly string[] {
  const { deploy, configure } = input.access ?? {};
  const listed = [deploy, configure].flatMap((members) => members?.membership_ids ?? []);
  return [...new Set([...listed, ...personsIn(input)])];
}
