import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../../support/delivery-harness.ts";
import {
  insertDeliveries,
  insertIntegration,
  stored,
  storedAttempts,
  updateDelivery,
  updateIntegration,
} from "../../support/delivery-rows.ts";
import { roundTripsOf } from "../../support/delivery-steps.ts";
import { newProject, newWorld } from "../../support/world.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const arrived = () => new Response(null, { status: 204 });
const refused = () => new Response(null, { status: 500 });

let project: Parsed;
let integrationId: string;

beforeEach(async () => {
  await clearOutbox();
  project = await newProject((await newWorld()).client);
  integrationId = await insertIntegration(project);
});

/** What another consumer has written of a delivery. */
const ENDED = (status: string) => ({ status, finished_at: 1 });

describe("a claim", () => {
  it("that answers when the time to send is over starts no request, and the next run sends", async () => {
    let runs = 0;
    const sentBy: number[] = [];
    const harness = new DeliveryHarness(
      () => {
        sentBy.push(runs);
        return arrived();
      },
      { instances: 1 },
    );
    const start = harness.now;
    harness.newInvocation = () => {
      runs += 1;
      return {
        hasCrashed: false,
        pass: async (call) => {
          const result = await call();
          if (harness.roundTrips.length === 1 && harness.now === start) harness.now += 9 * SECOND;
          return result;
        },
      };
    };
    const ids = await insertDeliveries(project, integrationId, start, 2);
    harness.enqueue(ids);
    await harness.runUntil(start + 10 * SECOND);
    expect(sentBy).toEqual([2, 2]);
    expect(roundTripsOf(harness).slice(0, 3)).toEqual([
      ["claim", "throttled"],
      ["release"],
      ["claim", "throttled"],
    ]);
    for (const id of ids) {
      expect(await stored(id)).toMatchObject({ status: "succeeded" });
      expect(await storedAttempts(id)).toMatchObject([{ status_code: 204 }]);
    }
    expect(harness.queue.messages).toEqual([]);
  });

  it("lets another consumer send once it has expired, and its failure no longer counts", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const start = harness.now;
    const [id = ""] = await insertDeliveries(project, integrationId, start);
    const other = new DeliveryHarness(arrived, { instances: 1 });
    harness.endpoint = async () => {
      other.now = start + MINUTE;
      other.endpoint = () => refused();
      other.enqueue([id]);
      await other.runUntil(other.now);
      return refused();
    };
    harness.enqueue([id]);
    await harness.runUntil(start);
    expect(await stored(id)).toMatchObject({
      status: "pending",
      attempts: 2,
      // The expired claim had not recorded an attempt.
      due_at: start + MINUTE + 5 * SECOND,
    });
    expect(await storedAttempts(id)).toMatchObject([{ number: 1 }, { number: 2 }]);
  });

  it("uses up no retry if it ends without a recorded attempt", async () => {
    const harness = new DeliveryHarness(refused, { instances: 1 });
    const start = harness.now;
    const [id = ""] = await insertDeliveries(project, integrationId, start);
    // Three claims crash; every later attempt is recorded.
    await updateDelivery(id, "attempts = 3");
    harness.enqueue([id]);
    await harness.runUntil(start);
    expect(await stored(id)).toMatchObject({ attempts: 4, due_at: start + 5 * SECOND });
    await harness.runUntil(start + 72 * 60 * MINUTE);
    const delays = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
    const times = harness.received.map(({ at }) => at);
    const gaps = times.slice(1).map((at, before) => (at - Number(times[before])) / SECOND);
    expect(gaps).toEqual(delays);
    expect(await storedAttempts(id)).toHaveLength(8);
    expect(await stored(id)).toMatchObject({
      status: "failed",
      attempts: 11,
      failure_reason: null,
    });
  });

  it.each([
    ["still succeeds after it has expired", arrived, { attempts: 2 }, { status: "succeeded" }],
    ["does not change a delivery that has failed meanwhile", arrived, ENDED("failed"), {}],
    ["does not undo a success if its attempt fails late", refused, ENDED("succeeded"), {}],
  ])("%s", async (_, answer, meanwhile, expected) => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    harness.endpoint = async () => {
      const set = Object.entries(meanwhile).map(([column, value]) => `${column} = '${value}'`);
      await updateDelivery(id, set.join());
      return answer();
    };
    harness.enqueue([id]);
    await harness.runUntil(harness.now);
    expect(await stored(id)).toMatchObject({ ...meanwhile, ...expected });
  });

  it("fails the deliveries of a disabled integration that are due and unclaimed", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const ids = await insertDeliveries(project, integrationId, harness.now, 3);
    const [due = "", inFlight = "", later = ""] = ids;
    // The end of a claim.
    await updateDelivery(inFlight, `attempts = 1, due_at = ${harness.now + 1}`);
    await updateDelivery(later, `due_at = ${harness.now + MINUTE}`);
    await updateIntegration(integrationId, "disabled_at = 1, disabled_reason = 'gone'");
    harness.enqueue(ids);
    await harness.runUntil(harness.now);
    expect(await stored(due)).toMatchObject({
      status: "failed",
      finished_at: harness.now,
      failure_reason: "integration_disabled",
    });
    for (const id of [inFlight, later]) {
      expect(await stored(id)).toMatchObject({
        status: "pending",
        finished_at: null,
        failure_reason: null,
      });
    }
  });
});
