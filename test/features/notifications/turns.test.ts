import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { openForWriting } from "../../../src/db/client.ts";
import { claimNext, toClaimed } from "../../../src/features/notifications/delivery/claim.ts";
import type { Turn } from "../../../src/features/notifications/delivery/turns.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../../support/delivery-harness.ts";
import { insertDeliveries, insertIntegration } from "../../support/delivery-rows.ts";
import { insertProjects } from "../../support/lists.ts";
import { addToOrganizations, newEmail, newProject, newWorld } from "../../support/world.ts";

const NOW = 1_800_000_000_000;
const { db } = openForWriting(env.DB);

const arrived = () => new Response(null, { status: 204 });

beforeEach(clearOutbox);

const turnOf = (turn: Partial<Turn> = {}): Turn => ({
  now: NOW,
  maximum: 30,
  woken: [],
  startsWith: undefined,
  busy: [],
  proven: [],
  ...turn,
});

const claim = async (turn: Turn) => toClaimed(await claimNext(db, turn), turn.maximum);

const newProjectOfTenant = async (weight = 1) => {
  const project = await newProject((await newWorld()).client);
  await clearOutbox();
  await env.DB.prepare("update organizations set delivery_weight = ? where id = ?")
    .bind(weight, project.org_id)
    .run();
  return project;
};

/** A project in each of as many new organizations. */
async function newProjectsOfTenants(count: number): Promise<Parsed[]> {
  const organizations = (await addToOrganizations(newEmail(), count)).toSorted();
  const projects: Parsed[] = [];
  for (const org_id of organizations) {
    const id = newId(systemClock);
    await insertProjects({ id: org_id, membershipId: org_id }, [{ id, createdAt: NOW }]);
    projects.push({ id, org_id });
  }
  return projects;
}

const countBy = (ids: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(ids, (id) => id)].map(([id, all]) => [id, all.length]));

describe("organizations that wait", () => {
  it("are in the first claim beside a flood, which gets everything when it is alone", async () => {
    const [flood, ...others] = [
      await newProjectOfTenant(),
      await newProjectOfTenant(),
      await newProjectOfTenant(),
    ];
    const flooded = await insertIntegration(flood);
    await insertDeliveries(flood, flooded, NOW - 60_000, 1_000);
    const proven = [flooded];
    for (const other of others) {
      await insertDeliveries(other, await insertIntegration(other), NOW);
    }
    const { deliveries } = await claim(turnOf({ proven }));
    expect(countBy(deliveries.map(({ organizationId }) => organizationId))).toEqual({
      // Its share. The next claim takes more.
      [flood.org_id]: 10,
      [others[0]?.org_id]: 1,
      [others[1]?.org_id]: 1,
    });
    const next = await claim(turnOf({ proven }));
    expect(countBy(next.deliveries.map(({ organizationId }) => organizationId))).toEqual({
      [flood.org_id]: 30,
    });
  });

  it("get their shares beside one that waits longer, with more than a claim takes", async () => {
    const [longest, other] = [await newProjectOfTenant(), await newProjectOfTenant()];
    const proven: string[] = [];
    const insert = async (project: Parsed, due: number, count: number) => {
      const id = await insertIntegration(project);
      proven.push(id);
      await insertDeliveries(project, id, due, count);
    };
    for (const minutes of [3, 2, 1]) await insert(longest, NOW - minutes * 60_000, 12);
    await insert(other, NOW - 1, 8);
    const claimed: object[] = [];
    for (let times = 0; times < 3; times += 1) {
      const { deliveries } = await claim(turnOf({ proven, maximum: 12 }));
      claimed.push(countBy(deliveries.map(({ organizationId }) => organizationId)));
    }
    expect(claimed).toEqual([
      { [longest.org_id]: 6, [other.org_id]: 6 },
      { [longest.org_id]: 10, [other.org_id]: 2 },
      { [longest.org_id]: 12 },
    ]);
  });

  it("get shares by their weights, and one that is alone gets everything", async () => {
    const [heavy, light] = [await newProjectOfTenant(3), await newProjectOfTenant(1)];
    const proven: string[] = [];
    for (const project of [heavy, light]) {
      const id = await insertIntegration(project);
      proven.push(id);
      await insertDeliveries(project, id, NOW, project === heavy ? 45 : 60);
    }
    const claimed: string[][] = [];
    for (let times = 0; times < 5; times += 1) {
      const { deliveries } = await claim(turnOf({ proven, maximum: 24 }));
      claimed.push(deliveries.map(({ organizationId }) => organizationId));
    }
    const both = { [heavy.org_id]: 18, [light.org_id]: 6 };
    expect(claimed.map(countBy)).toEqual([
      both,
      both,
      { [heavy.org_id]: 9, [light.org_id]: 15 },
      { [light.org_id]: 24 },
      { [light.org_id]: 9 },
    ]);
  });

  it.each([0, -3])("have a weight of at least 1: %s counts as 1", async (weight) => {
    const proven: string[] = [];
    const [odd, one] = [await newProjectOfTenant(weight), await newProjectOfTenant()];
    for (const project of [odd, one]) {
      const id = await insertIntegration(project);
      proven.push(id);
      await insertDeliveries(project, id, NOW, 40);
    }
    const { deliveries } = await claim(turnOf({ proven, maximum: 24 }));
    expect(countBy(deliveries.map(({ organizationId }) => organizationId))).toEqual({
      [odd.org_id]: 12,
      [one.org_id]: 12,
    });
  });

  it("get equal shares, however many integrations each has", async () => {
    const [one, many] = [await newProjectOfTenant(), await newProjectOfTenant()];
    const proven: string[] = [];
    for (let at = 0; at < 10; at += 1) {
      const project = at === 0 ? one : many;
      const id = await insertIntegration(project);
      proven.push(id);
      await insertDeliveries(project, id, NOW, 40);
    }
    const { deliveries } = await claim(turnOf({ proven }));
    expect(countBy(deliveries.map(({ organizationId }) => organizationId))).toEqual({
      [one.org_id]: 15,
      [many.org_id]: 15,
    });
  });

  it("all get a turn before one gets its second, if they are more than one claim considers", async () => {
    const projects = await newProjectsOfTenants(LIMITS.scannedOrganizations.value + 10);
    const integrations: [Parsed, string][] = [];
    for (const project of projects) {
      const url = `https://hooks.longshore.dev/${project.id}`;
      integrations.push([project, await insertIntegration(project, { url })]);
    }
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const inTurns = [...integrations, ...integrations];
    const ids: string[] = [];
    for (const [at, [project, id]] of inTurns.entries()) {
      ids.push(...(await insertDeliveries(project, id, harness.now - inTurns.length + at)));
    }
    harness.enqueue(ids.slice(0, 1));
    await harness.runUntil(harness.now);
    const served = harness.received.map(({ url }) => url);
    // Requests that are in progress at once may overtake each other.
    const first = served.slice(0, projects.length + LIMITS.deliveryConnections.value);
    expect(new Set(first).size).toBe(projects.length);
    expect(Object.values(countBy(served))).toEqual(projects.map(() => 2));
    const events = harness.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(events).size).toBe(inTurns.length);
  });
});

interface Kind {
  isSlack: boolean;
  isDisabled: boolean;
  isUnconfirmed: boolean;
  isPaused: boolean;
  isFailing: boolean;
  isThrottled: boolean;
  isBusy: boolean;
  isProven: boolean;
  /** Of another organization than its deliveries. */
  isTombstone: boolean;
  /** When each delivery is due, relative to now. */
  deliveries: number[];
}

const kind: fc.Arbitrary<Kind> = fc.record({
  isSlack: fc.boolean(),
  isDisabled: fc.integer({ min: 0, max: 5 }).map((at) => at === 0),
  isUnconfirmed: fc.boolean(),
  isPaused: fc.integer({ min: 0, max: 4 }).map((at) => at === 0),
  isFailing: fc.integer({ min: 0, max: 3 }).map((at) => at === 0),
  isThrottled: fc.boolean(),
  isBusy: fc.integer({ min: 0, max: 4 }).map((at) => at === 0),
  isProven: fc.boolean(),
  isTombstone: fc.integer({ min: 0, max: 9 }).map((at) => at === 0),
  deliveries: fc.array(fc.integer({ min: -20, max: 4 }), { maxLength: 6 }),
});

/** How many deliveries of an integration a claim without a limit takes. */
function expectedCount(each: Kind): { pending: number; failed: number } {
  const { deliveries, isSlack, isDisabled, isUnconfirmed } = each;
  const due = deliveries.filter((at) => at <= 0).length;
  if (each.isTombstone) return { pending: 0, failed: 0 };
  if (isDisabled) return { pending: 0, failed: due };
  if (each.isBusy || each.isPaused || (isSlack && each.isThrottled)) {
    return { pending: 0, failed: 0 };
  }
  if (isSlack && isUnconfirmed) return { pending: 0, failed: due };
  const maximum = isSlack || each.isFailing ? 1 : each.isProven ? due : 2;
  return { pending: Math.min(due, maximum), failed: 0 };
}

async function insertKind(project: Parsed, other: Parsed, each: Kind): Promise<string> {
  const { isSlack, isDisabled, isUnconfirmed } = each;
  const type = isSlack ? "slack" : "webhook";
  const id = await insertIntegration(project, { type, isConfirmed: !isUnconfirmed });
  for (const due of each.deliveries) await insertDeliveries(project, id, NOW + due);
  await env.DB.prepare(
    `update integrations set disabled_at = ?, paused_until = ?, failing_since = ?,
      last_sent_at = ?, organization_id = ? where id = ?`,
  )
    .bind(
      isDisabled ? 1 : null,
      each.isPaused ? NOW + 1 : NOW,
      each.isFailing ? 1 : null,
      each.isThrottled ? NOW - 999 : NOW - 1_000,
      each.isTombstone ? other.org_id : project.org_id,
      id,
    )
    .run();
  return id;
}

describe("a claim", () => {
  it("takes what the rules say, and no more", async () => {
    const projects = [await newProjectOfTenant(1), await newProjectOfTenant(2)];
    await fc.assert(
      fc.asyncProperty(fc.array(kind, { minLength: 1, maxLength: 6 }), async (kinds) => {
        await clearOutbox();
        const [first, second] = projects;
        const ids: string[] = [];
        for (const [at, each] of kinds.entries()) {
          const [own, other] = at % 2 === 0 ? [first, second] : [second, first];
          ids.push(await insertKind(own, other, each));
        }
        const where = (has: (each: Kind) => boolean) =>
          ids.filter((_, at) => kinds.some((each, of) => of === at && has(each)));
        const busy = where(({ isBusy }) => isBusy);
        const proven = where(({ isProven }) => isProven);
        const rows = await claimNext(db, turnOf({ maximum: 1_000, busy, proven }));
        const actual = ids.map((id) => {
          const own = rows.filter(({ integrationId }) => integrationId === id);
          const pending = own.filter(({ status }) => status === "pending").length;
          return { pending, failed: own.length - pending };
        });
        expect(actual).toEqual(kinds.map(expectedCount));
        await env.DB.prepare("update integrations set disabled_at = 1").run();
      }),
      { numRuns: 60 },
    );
  });

  it("eventually takes every due delivery once, in fair turns", async () => {
    const projects = [
      await newProjectOfTenant(1),
      await newProjectOfTenant(2),
      await newProjectOfTenant(3),
    ];
    const counts = fc.array(fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 3 }), {
      minLength: 3,
      maxLength: 3,
    });
    const maximum = fc.integer({ min: 1, max: 12 });
    await fc.assert(
      fc.asyncProperty(counts, maximum, async (population, maximum) => {
        await clearOutbox();
        const proven: string[] = [];
        const ids: string[] = [];
        for (const [at, integrations] of population.entries()) {
          for (const count of integrations) {
            const id = await insertIntegration(projects[at]);
            proven.push(id);
            ids.push(...(await insertDeliveries(projects[at], id, NOW, count)));
          }
        }
        const left = new Map(
          projects.map(({ org_id }, at) => [
            String(org_id),
            (population[at] ?? []).reduce((sum, count) => sum + count, 0),
          ]),
        );
        const claimed: string[] = [];
        let startsWith: string | undefined;
        for (;;) {
          const { deliveries } = await claim(turnOf({ maximum, proven, startsWith }));
          if (deliveries.length === 0) break;
          startsWith = deliveries.at(-1)?.id;
          const taken = countBy(deliveries.map(({ organizationId }) => organizationId));
          // A claim reads no more than this of one integration, also if others have less than their shares.
          const weights = projects.flatMap(({ org_id }, at) => (left.get(org_id) ? [at + 1] : []));
          const sum = weights.reduce((total, weight) => total + weight, 0);
          const most = Math.max(1, Math.ceil((maximum * Math.max(...weights)) / sum));
          // While another one has more that can be read, none is over a turn ahead of it.
          for (const [at, { org_id }] of projects.entries()) {
            const rounds = (taken[org_id] ?? 0) / (at + 1);
            for (const [other, project] of projects.entries()) {
              const remains = Number(left.get(project.org_id)) - (taken[project.org_id] ?? 0);
              if (remains <= 0 || taken[project.org_id] === most) continue;
              expect((taken[project.org_id] ?? 0) / (other + 1)).toBeGreaterThan(rounds - 2);
            }
          }
          for (const [id, count] of Object.entries(taken)) {
            left.set(id, Number(left.get(id)) - count);
          }
          claimed.push(...deliveries.map(({ id }) => id));
        }
        expect(claimed.toSorted()).toEqual(ids.toSorted());
      }),
      { numRuns: 25 },
    );
  });
});
