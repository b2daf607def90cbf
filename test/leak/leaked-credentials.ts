import type { OrgRole } from "../../src/lib/roles.ts";
import { SCOPES } from "../../src/lib/scopes.ts";
import { Client } from "../support/client.ts";
import { ISSUER } from "../support/issuer.ts";
import {
  accept,
  addressOf,
  newEmail,
  newKey,
  newServiceAccount,
  newTrust,
  type Person,
  type Pool,
  sessionIn,
  signIn,
  type World,
} from "../support/world.ts";
import { signInAsPerson } from "./sign-in.ts";
import type { LeakWorker } from "./worker.ts";

const HOUR_MS = 3_600_000;
/** A claim that the attacker's own tokens do not have. */
const VICTIMS_CLAIMS = { repository_id: "4711" };

export const ROLES = ["owner", "admin", "member"] as const;

/** A session of a person in two organizations can be switched, and is in both then. */
export type LeakType = "api_key" | "session" | "session_of_two" | "runner_token";

export interface Leak {
  kind: string;
  type: LeakType;
  /** What is sent with requests. */
  secret: string;
  /** Of the path that revokes it. */
  id: string;
  role: OrgRole;
  membershipId: string;
  /** Whether it is full, as docs/api-keys.md defines it. */
  isFull: boolean;
  /** Whether it has scopes, projects or environments. */
  isNarrowed: boolean;
}

const PLAIN = { isFull: false, isNarrowed: false };

export function secretOf({ client }: Pick<Person, "client">): string {
  return String(client.key ?? client.session);
}

function idIn(secret: string): string {
  return String(secret.split("_")[1]);
}

interface Holder {
  membershipId: string;
  role: OrgRole;
}

/** Full, narrowed in each way, expiring, and with a lower role. */
export async function leakedKeys(
  home: World,
  { membershipId, role }: Holder,
  { projectId, environmentId }: { projectId: string; environmentId: string },
): Promise<Leak[]> {
  const expiresAt = Date.now() + HOUR_MS;
  const full = { isFull: true, isNarrowed: false };
  const narrowed = { isFull: false, isNarrowed: true };
  const projectIds = [projectId];
  const most = SCOPES.filter((scope) => scope !== "audit:read");
  const kinds: [string, Partial<Leak>, Parameters<typeof newKey>[1]][] = [
    ["full", full, {}],
    ["expiring by the policy", full, { expiresAt, expiresByPolicy: true }],
    ["expiring", PLAIN, { expiresAt }],
    ["made by another", PLAIN, { isOwn: false }],
    ["narrowed by scopes", narrowed, { scopes: most }],
    ["narrowed to people and keys", narrowed, { scopes: ["members:write", "keys:write"] }],
    ["narrowed by projects", narrowed, { projectIds }],
    ["narrowed by environments", narrowed, { projectIds, environmentIds: [environmentId] }],
  ];
  if (role !== "member") {
    kinds.push(["with a lower role", { ...PLAIN, role: "member" }, { role: "member" }]);
  }
  const made = kinds.map(async ([name, properties, fields]): Promise<Leak> => {
    const key = await newKey(home, { membershipId, role, isOwn: true, ...fields });
    const leak = { ...PLAIN, role, membershipId, ...properties };
    const kind = `key of ${withArticle(role)}, ${name}`;
    return { ...leak, kind, type: "api_key", secret: secretOf(key), id: key.keyId };
  });
  return Promise.all(made);
}

/** Of a key, of a link and of a sign-in. */
export async function leakedSessions(
  home: World,
  { membershipId, role }: Holder,
  worker: LeakWorker,
): Promise<Leak[]> {
  const own = { membershipId, role, isOwn: true };
  const ofKey = await signIn(await newKey(home, own));
  const ofNarrowed = await signIn(await newKey(home, { ...own, scopes: ["keys:write"] }));
  const { body: link } = await (await newKey(home, own)).client.post("/v1/sign-in-links", {});
  const { pathname } = new URL(link.url);
  const sameOrigin = { "sec-fetch-site": "same-origin" };
  const used = await new Client(undefined).request("POST", pathname, undefined, sameOrigin);
  const address = await addressOf({ membershipId });
  const accepted = { membershipIds: [membershipId], organizationId: home.id };
  const ofPerson = await signInAsPerson(worker, address, accepted);
  const full = { isFull: true, isNarrowed: false };
  const kinds: [string, string, Pick<Leak, "isFull" | "isNarrowed">][] = [
    ["a key", secretOf(ofKey), full],
    ["a narrowed key", secretOf(ofNarrowed), { isFull: false, isNarrowed: true }],
    ["a link", sessionIn(used), full],
    ["a sign-in", ofPerson, full],
  ];
  return kinds.map(([name, secret, properties]) => ({
    ...properties,
    kind: `session of ${withArticle(role)}, of ${name}`,
    type: "session",
    ...{ secret, role, membershipId, id: idIn(secret) },
  }));
}

/** Of service accounts and of trusts. */
export async function leakedKeysOfPrograms(home: World, worker: LeakWorker): Promise<Leak[]> {
  const leaks: Leak[] = [];
  for (const role of ["admin", "member"] as const) {
    const membershipId = await newServiceAccount(home, role);
    const key = await newKey(home, { membershipId, role });
    const terms = { issuer: ISSUER, audience: role, role, conditions: VICTIMS_CLAIMS };
    await newTrust(home, { membershipId }, terms);
    const token = await worker.issuer.sign({ ...VICTIMS_CLAIMS, aud: role });
    const body = { org_id: home.id, token };
    const exchanged = await worker.send({ method: "POST", path: "/v1/oidc/token", body });
    const secrets = { "a service account": secretOf(key), "a trust": String(exchanged.body.key) };
    for (const [program, secret] of Object.entries(secrets)) {
      const kind = `key of ${program} with the role ${role}`;
      leaks.push({ ...PLAIN, kind, type: "api_key", secret, role, membershipId, id: idIn(secret) });
    }
  }
  return leaks;
}

export function leakedRunnerToken(home: World, pool: Pool): Leak {
  const { membershipId } = home;
  const secret = secretOf({ client: pool.runner });
  const leak = { ...PLAIN, role: "member", membershipId, secret, id: pool.tokenId } as const;
  return { ...leak, kind: "runner token", type: "runner_token" };
}

/** Of an administrator of both organizations, in the first. */
export async function leakedSessionOfTwo(home: World, other: World, worker: LeakWorker) {
  const address = newEmail();
  const role = "admin";
  const { membershipId } = await accept(home, { role, email: address });
  const { membershipId: otherMembershipId } = await accept(other, { role, email: address });
  const membershipIds = [membershipId, otherMembershipId];
  const secret = await signInAsPerson(worker, address, { membershipIds, organizationId: home.id });
  const leak: Leak = {
    kind: "session of an admin of two organizations, of a sign-in",
    type: "session_of_two",
    ...{ role, membershipId, secret, id: idIn(secret), isFull: true, isNarrowed: false },
  };
  return { leak, address, otherMembershipId };
}

function withArticle(role: OrgRole): string {
  return role === "member" ? "a member" : `an ${role}`;
}
