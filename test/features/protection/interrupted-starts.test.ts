import { env } from "cloudflare:workers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { LONG_MS } from "../../effort.ts";
import type { Parsed, Reply } from "../../support/client.ts";
import { beforeBatch, Instrumented } from "../../support/instruments.ts";
import { beforeWrite } from "../../support/intercepted-writes.ts";
import { approve, reject } from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import { newKey, type Person } from "../../support/world.ts";

const RACES = env.EFFORT.protectionRaces;
const rulesWith = (required: number) => ({
  approvals: { required, approvers: { role: "owner" } },
});

const shop = useShop(rulesWith(1));
let olga: Person;

beforeEach(async () => {
  olga = await shop.join("owner");
});

/** More round trips than a request takes. */
const MAXIMUM_LEAD = 4;

/**
 * The second model, in the database itself: what starts has, at that moment, an approval of its content by an owner
 * of the project who has not created it, no rejection, and no freeze.
 */
const MODEL = `create trigger races_model before update of status on deployments
  when old.status = 'queued' and new.status = 'in_progress' and exists (
    select 1 from environment_protections where environment_id = new.environment_id and rules <> '{}')
  begin select raise(abort, 'INVARIANT a deployment starts without its conditions') where
    not exists (select 1 from deployment_approvals as approval join project_members as role
        on role.membership_id = approval.membership_id and role.project_id = new.project_id
      where approval.deployment_id = new.id and approval.decision = 'approve' and role.role = 'owner'
        and approval.membership_id not in (select value from json_each(new.creators))
        and approval.configuration_digest = new.configuration_digest)
    or exists (select 1 from deployment_approvals where deployment_id = new.id and decision = 'reject')
    or exists (select 1 from freezes where project_id = new.project_id
      and starts_at <= new.started_at and ends_at > new.started_at);
  end`;

beforeAll(() => env.DB.prepare(MODEL).run());
afterAll(() => env.DB.prepare("drop trigger races_model").run());

/** An approved deployment that is offered. */
async function newOffer(): Promise<Attempt> {
  const { id } = await shop.deploy();
  expect((await approve(olga.client, id)).status).toBe(201);
  return Attempt.claim(shop.pool.runner);
}

/** The status of a start, and what the deployment then is and waits for. */
async function stateAfter({ status }: Reply, id: string): Promise<unknown[]> {
  const { body } = await shop.world.client.get(`/v1/deployments/${id}`);
  const codes = (body.waiting_for ?? []).map(({ code }: Parsed) => code);
  return [status, body.status, ...codes];
}

const setRole = (person: Person, role: string) =>
  shop.world.client.put(`/v1/projects/${shop.project.id}/members/${person.membershipId}`, { role });

interface Change {
  act(id: string): Promise<unknown>;
  /** What the deployment is, and waits for, after the refusal of its start. */
  left: string[];
  /** For the next round. */
  undo?(): Promise<unknown>;
}

const CHANGES: Record<string, Change> = {
  "who has approved loses the role": {
    act: () => setRole(olga, "contributor"),
    left: ["queued", "approvals"],
    undo: () => setRole(olga, "owner"),
  },
  "the configuration is edited": {
    act: () => {
      const configuration = { edit: crypto.randomUUID() };
      return shop.world.client.put(shop.environment, { name: "production", configuration });
    },
    left: ["queued", "approvals"],
  },
  "the rules get stricter": {
    act: () => shop.protect(rulesWith(2)),
    left: ["queued", "approvals"],
    undo: () => shop.protect(rulesWith(1)),
  },
  "a freeze begins": {
    act: () => shop.freeze(),
    left: ["queued", "freeze"],
    undo: () =>
      env.DB.prepare("delete from freezes where organization_id = ?").bind(shop.world.id).run(),
  },
  "somebody rejects it": { act: (id) => reject(olga.client, id), left: ["canceled"] },
};

/** Delays a request by this many round trips to the database. */
async function makeRoundTrips(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await env.DB.prepare("select 1").first();
}

/** With each number, the one or the other is first, by another number of round trips to the database. */
function both<One, Other>(at: number, one: () => Promise<One>, other: () => Promise<Other>) {
  const lead = Math.floor(at / 2) % (MAXIMUM_LEAD + 1);
  return at % 2 === 0
    ? Promise.all([one(), makeRoundTrips(lead).then(other)])
    : Promise.all([makeRoundTrips(lead).then(one), other()]);
}

describe.each(Object.entries(CHANGES))("a start during which %s", (_, { act, left, undo }) => {
  it("is refused if that comes after its reads, and before its writes", async () => {
    const { claimed, deploymentId } = await newOffer();
    let acted = 0;
    const database = beforeBatch(2, async () => {
      await act(deploymentId);
      acted += 1;
    });
    const { fetch } = new Instrumented({ database });
    const reply = await new Attempt(shop.pool.runner.via(fetch), claimed).post("start");
    expect(acted).toBe(1);
    expect(await stateAfter(reply, deploymentId)).toEqual([409, ...left]);
  });

  it(
    "is refused or was first, at any distance of the two",
    async () => {
      const statuses = new Set<number>();
      for (let at = 0; at < RACES; at += 1) {
        const offer = await newOffer();
        const [{ status }] = await both(
          at,
          () => offer.post("start"),
          () => act(offer.deploymentId),
        );
        statuses.add(status);
        if (status === 200) await offer.complete("failed");
        else await shop.world.client.patch(`/v1/deployments/${offer.deploymentId}/cancel`);
        await undo?.();
      }
      expect([...statuses].toSorted()).toEqual([200, 409]);
    },
    LONG_MS,
  );
});

it("a start during which somebody else loses the role starts", async () => {
  const other = await shop.join("owner");
  const { claimed, deploymentId } = await newOffer();
  const database = beforeBatch(2, () => setRole(other, "viewer"));
  const { fetch } = new Instrumented({ database });
  const reply = await new Attempt(shop.pool.runner.via(fetch), claimed).post("start");
  expect(await stateAfter(reply, deploymentId)).toEqual([200, "in_progress"]);
});

describe("an approval", () => {
  const CONTENDERS: Record<string, (id: string) => Promise<unknown>> = {
    "another key of the same person approves": async (id) => {
      const second = { membershipId: olga.membershipId, role: "member", isOwn: true } as const;
      await approve((await newKey(shop.world, second)).client, id);
    },
    "the rules get stricter": () => shop.protect(rulesWith(2)),
  };

  it.each(Object.entries(CONTENDERS))(
    "before whose write %s is one of two",
    async (name, contend) => {
      await shop.protect(rulesWith(name.startsWith("another") ? 2 : 1));
      const { id } = await shop.deploy();
      const { fetch } = new Instrumented({ database: beforeWrite(() => contend(id)) });
      await approve(olga.client.via(fetch), id);
      const { body } = await shop.world.client.get(`/v1/deployments/${id}`);
      expect(body.waiting_for[0].message).toMatch(/^1 of 2 approvals/);
      const { body: approvals } = await shop.world.client.get(`/v1/deployments/${id}/approvals`);
      expect(approvals.data).toHaveLength(1);
      await expect(Attempt.claim(shop.pool.runner)).rejects.toThrow("nothing to claim");
    },
  );
});
