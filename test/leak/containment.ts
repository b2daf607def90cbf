import { env } from "cloudflare:workers";
import { createOwnerKey } from "../../packages/server/src/owner-key.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Parsed } from "../support/client.ts";
import { newEmail } from "../support/world.ts";
import type { Fixture } from "./fixtures.ts";
import { signInWithAddress } from "./sign-in.ts";
import type { LeakWorker, Reply } from "./worker.ts";

/** A credential in an organization, as its owner sees it. */
interface Leaked {
  organizationId: string;
  owner: string;
  /** Within the organization. */
  path: string;
}

/** What the owners, or the person, do about a leak: read the family, revoke it, and remove its people. */
export class Containment {
  readonly log: string[] = [];
  readonly #worker: LeakWorker;
  readonly #fixture: Fixture;
  readonly #startedAt = Date.now();

  constructor(worker: LeakWorker, fixture: Fixture) {
    this.#worker = worker;
    this.#fixture = fixture;
  }

  /** False if the organization is gone: nobody can revoke anything in it. */
  async run(): Promise<boolean> {
    const { home: organizationId, leak, poolId } = this.#fixture;
    const owner = await this.#findOwner();
    if (owner === undefined) return false;
    if (leak.type === "runner_token") {
      const path = `/v1/orgs/${organizationId}/runner-pools/${poolId}/tokens/${leak.id}`;
      await this.#delete(owner, path, [204, 404]);
      return true;
    }
    const path =
      leak.type === "api_key"
        ? `api-keys/${leak.id}`
        : `members/${leak.membershipId}/sessions/${leak.id}`;
    const leaked = { organizationId, owner, path };
    if (leak.type === "session_of_two") await this.#endEverywhere(leaked);
    else await this.#end([leaked], () => this.#revoke(leaked));
    return true;
  }

  /** Revokes, and removes the people whom the families name. */
  async #end(all: Leaked[], revoke: () => Promise<void>): Promise<void> {
    const people = await Promise.all(all.map((each) => this.#listPeople(each)));
    await revoke();
    for (const [at, { owner, organizationId }] of all.entries()) {
      for (const id of people[at] ?? []) {
        const path = `/v1/orgs/${organizationId}/members/${id}?descendants=revoke`;
        await this.#delete(owner, path, [204, 404]);
      }
    }
  }

  /** A session that can switch may have successors in the person's other organization. */
  async #endEverywhere(leaked: Leaked): Promise<void> {
    const { leak, other, otherMembershipId, owners, address } = this.#fixture;
    const sessions = `members/${otherMembershipId}/sessions`;
    const inOther = ["active", "ended"].map((status) =>
      this.#list(owners.other, `/v1/orgs/${other}/${sessions}?status=${status}`),
    );
    const successors = (await Promise.all(inOther)).flat().map(({ id }) => ({
      organizationId: other,
      owner: owners.other,
      path: `${sessions}/${id}`,
    }));
    await this.#end([leaked, ...successors], async () => {
      const { organizationId } = leaked;
      const session = await signInWithAddress(this.#worker, address, { organizationId });
      const path = `/v1/sessions/${leak.id}?descendants=revoke`;
      const status = session && (await this.#delete(session, path, [204, 404]));
      // The attacker may have erased the account, or left an organization.
      if (status !== 204) for (const each of [leaked, ...successors]) await this.#revoke(each);
    });
  }

  async #revoke({ organizationId, owner, path }: Leaked): Promise<void> {
    await this.#delete(owner, `/v1/orgs/${organizationId}/${path}?descendants=revoke`, [204]);
  }

  /** Reads the family only if somebody has been added: it takes as long as the rest of most sequences. */
  async #listPeople({ organizationId, owner, path }: Leaked): Promise<string[]> {
    if (!(await hasMemberSince(organizationId, this.#startedAt))) return [];
    const family = await this.#list(owner, `/v1/orgs/${organizationId}/${path}/family`);
    return family.filter(({ type }) => type === "member").map(({ id }) => id);
  }

  async #list(credential: string, path: string): Promise<Parsed[]> {
    const items: Parsed[] = [];
    let page = `${path}${path.includes("?") ? "&" : "?"}limit=240`;
    for (;;) {
      const { body } = await this.#send("GET", page, credential, [200]);
      items.push(...body.data);
      if (!body.has_more) return items;
      page = `${page}&after=${encodeURIComponent(body.next_page)}`;
    }
  }

  async #delete(credential: string, path: string, expected: number[]): Promise<number> {
    return (await this.#send("DELETE", path, credential, expected)).status;
  }

  async #send(
    method: string,
    path: string,
    credential: string,
    expected: number[],
  ): Promise<Reply> {
    const reply = await this.#worker.send({ method, path, credential });
    this.log.push(`${method} ${path} → ${reply.status} ${reply.text}`);
    if (expected.includes(reply.status)) return reply;
    throw new Error(`${method} ${path} → ${reply.status} ${reply.text}`);
  }

  /** The owner's key. Another one from `npm run recover`, if the attacker had the authority to end it. */
  async #findOwner(): Promise<string | undefined> {
    const { home, owners } = this.#fixture;
    const path = "/v1/whoami";
    const { status, body } = await this.#worker.send({
      method: "GET",
      path,
      credential: owners.home,
    });
    if (status === 200 && body.credential.role === "owner") return owners.home;
    const membershipId = await addOwner(home);
    const options = { organizationId: home, membershipId, name: "recovered" };
    return (await createOwnerKey(env.DB, systemClock, options))?.key;
  }
}

async function hasMemberSince(organizationId: string, time: number): Promise<boolean> {
  const select = "select 1 from memberships where organization_id = ? and created_at >= ?";
  return (await env.DB.prepare(select).bind(organizationId, time).first()) !== null;
}

/** An owner whom the attacker does not know. Returns the membership. */
async function addOwner(organizationId: string): Promise<string> {
  const [id, accountId] = [newId(systemClock), newId(systemClock)];
  const now = Date.now();
  await env.DB.batch([
    env.DB.prepare(
      `insert into accounts (id, email, name, display_name, profile, created_at, updated_at)
       values (?1, ?1, 'Rescuer', 'Rescuer', '{}', ?2, ?2)`,
    ).bind(accountId, now),
    env.DB.prepare(
      `insert into memberships (id, organization_id, account_id, role, email, created_at, updated_at)
       values (?1, ?2, ?3, 'owner', ?4, ?5, ?5)`,
    ).bind(id, organizationId, accountId, newEmail(), now),
  ]);
  return id;
}
