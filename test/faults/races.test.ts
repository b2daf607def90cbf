import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { countWithin } from "../effort.ts";
import {
  newWalkFixture,
  type Reply,
  VirtualTimeWorker,
  type WalkFixture,
} from "../walk/fixture.ts";

const TIMES = env.EFFORT.races;
/** More round trips than a start or an edit takes. */
const MAXIMUM_LEAD = 5;

let worker: VirtualTimeWorker;
let fixture: WalkFixture;
let requests = 0;

beforeEach(async () => {
  worker = new VirtualTimeWorker();
  fixture = await newWalkFixture(worker);
});

const [user, one, other] = [
  (method: string, path: string, body?: object) => worker.call(fixture.key, method, path, body),
  () => String(fixture.runners[0]),
  () => String(fixture.runners[1]),
];

const create = (fields: object = {}, environment = fixture.environments[0]) =>
  user("POST", `/v1/environments/${environment}/deployments`, fields);
const set = (path: string, value: unknown) => ({ op: "add", path, value });
const configuration = async (environment = fixture.environments[0]) =>
  (await user("GET", `/v1/environments/${environment}`)).body.configuration;
const put = (value: object) =>
  user("PUT", `/v1/environments/${fixture.environments[0]}`, {
    name: "production",
    configuration: value,
  });
const cancel = (id: string) => user("PATCH", `/v1/deployments/${id}/cancel`);
const statusOf = async (id: string) => (await user("GET", `/v1/deployments/${id}`)).body.status;

function claim(runner: string): Promise<Reply> {
  requests += 1;
  return worker.call(runner, "POST", "/v1/runner/claims", { request_id: `race ${requests}` });
}

function call(
  { body }: Reply,
  verb: string,
  sent?: object,
  runner: string = one(),
): Promise<Reply> {
  const headers = { "lease-token": body.lease_token };
  return worker.call(
    runner,
    "POST",
    `/v1/runner/attempts/${body.attempt_id}/${verb}`,
    sent,
    headers,
  );
}

/** Starts, and reports that all stacks have succeeded. */
async function run(claimed: Reply, runner: string = one()): Promise<Reply> {
  const start = await call(claimed, "start", undefined, runner);
  const { attempt_id, lease_token, deployment } = claimed.body;
  for (const id of deployment.stack_ids) {
    const path = `/v1/runner/attempts/${attempt_id}/stacks/${id}`;
    const headers = { "lease-token": lease_token };
    await worker.call(runner, "PUT", path, { seq: 1, status: "succeeded" }, headers);
  }
  return start;
}

async function started(): Promise<{ id: string; claimed: Reply }> {
  const { body } = await create();
  const claimed = await claim(one());
  expect((await run(claimed)).status).toBe(200);
  return { id: body.id, claimed };
}

/** Delays a request by this many round trips to the database. */
async function makeRoundTrips(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await env.DB.prepare("select 1").first();
}

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status).toSorted();

describe(`two requests in a race, at least ${TIMES.least} times`, () => {
  it("one of two claims gets the deployment and the other gets 204", async () => {
    for (const _ of countWithin(TIMES)) {
      const { body } = await create();
      const both = await Promise.all([claim(one()), claim(other())]);
      expect(statuses(both)).toEqual([200, 204]);
      await cancel(body.id);
    }
  });

  it("a cancellation and a completion agree on one final status", async () => {
    for (const _ of countWithin(TIMES)) {
      const { id, claimed } = await started();
      const [canceled, completed] = await Promise.all([
        cancel(id),
        call(claimed, "complete", { outcome: "succeeded" }),
      ]);
      expect(completed.status).toBe(200);
      expect(await statusOf(id)).toBe(canceled.status === 200 ? "canceled" : "succeeded");
      expect([200, 409]).toContain(canceled.status);
    }
  });

  it("one of two completions counts and the other is a conflict", async () => {
    for (const _ of countWithin(TIMES)) {
      const { id, claimed } = await started();
      const outcomes = ["succeeded", "failed"];
      const both = await Promise.all(
        outcomes.map((outcome) => call(claimed, "complete", { outcome })),
      );
      expect(statuses(both)).toEqual([200, 409]);
      expect(await statusOf(id)).toBe(outcomes[both.findIndex(({ status }) => status === 200)]);
    }
  });

  it("a creation and a claim leave one deployment that can start", async () => {
    for (const _ of countWithin(TIMES)) {
      const { body: older } = await create();
      const [{ body: newer }, claimed] = await Promise.all([create(), claim(one())]);
      const start = claimed.status === 200 ? await call(claimed, "start") : undefined;
      const offered = claimed.body?.deployment.id;
      expect(await statusOf(older.id)).toBe("superseded");
      if (offered === newer.id) expect(start?.status).toBe(200);
      else expect(start?.status ?? 409).toBe(409);
      await cancel(newer.id);
      worker.now += 121_000;
      await worker.sweep();
    }
  });

  it("a start executes the edited configuration, or the edit is refused", async () => {
    const edits = { accepted: 0, refused: 0 };
    for (const at of countWithin(TIMES)) {
      expect((await put({ before: at })).status).toBe(200);
      await create({ patch: [set("/before", -1), set("/mine", at)] });
      const claimed = await claim(one());
      // From edits that finish before the start to starts that finish before the edit.
      const lead = (at % (2 * MAXIMUM_LEAD + 1)) - MAXIMUM_LEAD;
      const [start, edit] = await Promise.all([
        makeRoundTrips(-lead).then(() => run(claimed)),
        makeRoundTrips(lead).then(() => put({ before: at + 0.5 })),
      ]);
      expect(start.status).toBe(200);
      expect([200, 409]).toContain(edit.status);
      const isAccepted = edit.status === 200;
      edits[isAccepted ? "accepted" : "refused"] += 1;
      const { patch } = start.body.deployment.data;
      expect(patch[0].old_value).toBe(isAccepted ? at + 0.5 : at);
      expect(await configuration()).toEqual({ before: isAccepted ? at + 0.5 : at });
      await call(claimed, "complete", { outcome: "succeeded" });
      expect(await configuration()).toEqual({ before: -1, mine: at });
    }
    expect(Math.min(edits.accepted, edits.refused), JSON.stringify(edits)).toBeGreaterThan(0);
  });

  it("a start in one pool uses the configuration after a success in another pool", async () => {
    const [, environment] = fixture.environments;
    const elsewhere = String(fixture.runners[2]);
    for (const at of countWithin(TIMES)) {
      await create({ queue: "fifo", patch: [set("/first", at)] }, environment);
      const first = await claim(one());
      expect((await run(first)).status).toBe(200);
      await create({ queue: "fifo", patch: [set("/second", at)] }, environment);
      const [completed, early] = await Promise.all([
        call(first, "complete", { outcome: "succeeded" }),
        claim(elsewhere),
      ]);
      expect(completed.status).toBe(200);
      const second = early.status === 200 ? early : await claim(elsewhere);
      const start = await run(second, elsewhere);
      expect(start.status).toBe(200);
      await call(second, "complete", { outcome: "succeeded" }, elsewhere);
      expect(await configuration(environment)).toEqual({ first: at, second: at });
    }
  });

  it("a creation during a success keeps both patches", async () => {
    for (const at of countWithin(TIMES)) {
      await create({ patch: [set("/first", at)] });
      const first = await claim(one());
      await run(first);
      const [completed, created] = await Promise.all([
        call(first, "complete", { outcome: "succeeded" }),
        create({ patch: [set("/first", -1), set("/second", at)] }),
      ]);
      expect([completed.status, created.status]).toEqual([200, 201]);
      const second = await claim(one());
      const start = await run(second);
      expect(start.body.deployment.data.patch[0].old_value).toBe(at);
      await call(second, "complete", { outcome: "succeeded" });
      expect(await configuration()).toEqual({ first: -1, second: at });
    }
  });

  it("the changelog of a cancel during a start shows the change of the cancel", async () => {
    for (const _ of countWithin(TIMES)) {
      worker.now += 1;
      const { body } = await create();
      const claimed = await claim(one());
      const [start, canceled] = await Promise.all([call(claimed, "start"), cancel(body.id)]);
      expect(canceled.status).toBe(200);
      const isStarted = start.status === 200;
      const after = isStarted ? "canceling" : "canceled";
      expect(canceled.body.status).toBe(after);
      const path = `/v1/projects/${fixture.projectId}/changelog?limit=2`;
      const { data } = (await user("GET", path)).body;
      const change = data.find(({ before }: { before?: object }) => before);
      expect(change).toMatchObject({
        record: { id: body.id },
        before: { status: isStarted ? "in_progress" : "queued" },
        after: { status: after },
      });
      if (isStarted) await call(claimed, "complete", { outcome: "canceled" });
    }
  });
});
