import { beforeEach, describe, expect, it } from "vitest";
import { type Answer, newStage, type Stage, Timed } from "./support/walk.ts";

const TIMES = 100;

let worker: Timed;
let stage: Stage;
let requests = 0;

beforeEach(async () => {
  worker = new Timed();
  stage = await newStage(worker);
});

const [people, one, other] = [
  (method: string, path: string, body?: object) => worker.call(stage.key, method, path, body),
  () => String(stage.runners[0]),
  () => String(stage.runners[1]),
];

const create = () =>
  people("POST", `/v1/environments/${stage.environments[0]}/deployments`, { stack_ids: [] });
const cancel = (id: string) => people("PATCH", `/v1/deployments/${id}/cancel`);
const statusOf = async (id: string) => (await people("GET", `/v1/deployments/${id}`)).body.status;

function claim(runner: string): Promise<Answer> {
  requests += 1;
  return worker.call(runner, "POST", "/v1/runner/claims", { request_id: `race ${requests}` });
}

function call({ body }: Answer, verb: string, sent?: object): Promise<Answer> {
  const headers = { "lease-token": body.lease_token };
  return worker.call(
    one(),
    "POST",
    `/v1/runner/attempts/${body.attempt_id}/${verb}`,
    sent,
    headers,
  );
}

async function started(): Promise<{ id: string; claimed: Answer }> {
  const { body } = await create();
  const claimed = await claim(one());
  expect((await call(claimed, "start")).status).toBe(200);
  return { id: body.id, claimed };
}

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).toSorted();

describe("a hundred times", () => {
  it("one of two claims gets the deployment, the other nothing", async () => {
    for (let at = 0; at < TIMES; at += 1) {
      const { body } = await create();
      const both = await Promise.all([claim(one()), claim(other())]);
      expect(statuses(both)).toEqual([200, 204]);
      await cancel(body.id);
    }
  });

  it("a cancellation and a completion agree on one end", async () => {
    for (let at = 0; at < TIMES; at += 1) {
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

  it("one of two completions counts, the other is a conflict", async () => {
    for (let at = 0; at < TIMES; at += 1) {
      const { id, claimed } = await started();
      const outcomes = ["succeeded", "failed"];
      const both = await Promise.all(
        outcomes.map((outcome) => call(claimed, "complete", { outcome })),
      );
      expect(statuses(both)).toEqual([200, 409]);
      expect(await statusOf(id)).toBe(outcomes[both.findIndex(({ status }) => status === 200)]);
    }
  });

  it("a creation and a claim leave one deployment that can go on", async () => {
    for (let at = 0; at < TIMES; at += 1) {
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
});
