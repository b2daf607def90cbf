import { describe, expect, it } from "vitest";
import type { Reply } from "../support/client.ts";
import { type Operation, operations } from "../support/contract.ts";
import { pathWith } from "../support/created.ts";
import { Instrumented } from "../support/instruments.ts";
import { beforeWrite, failingAfterWrite } from "../support/intercepted-writes.ts";
import { Issuer } from "../support/issuer.ts";
import {
  caseOf,
  conditional,
  expectRepeat,
  named,
  newIdempotencyKey,
  type PreparedWrite,
  prepareWrite,
  repeatable,
  tagOf,
} from "../support/prepared-writes.ts";
import { newKey } from "../support/world.ts";
import { bumpVersions, type Rows } from "../support/written-rows.ts";

/** An isolate whose first write comes after another one. Also returns the rows that the other one left. */
async function newOvertaken(overtake: () => Promise<unknown>, rows: () => Promise<Rows>) {
  const between: { rows?: Rows } = {};
  const database = beforeWrite(async () => {
    await overtake();
    between.rows = await rows();
  });
  const network = (await Issuer.create()).fetch;
  return { worker: new Instrumented({ database, network }), between };
}

describe("with an Idempotency-Key", () => {
  it.each(repeatable.map(named))(
    "%s has one effect if the response to its commit is lost and the Worker ends",
    async (_, operation) => {
      const { send, rows } = await prepareWrite(operation);
      const headers = newIdempotencyKey();
      const network = (await Issuer.create()).fetch;
      const worker = new Instrumented({ database: failingAfterWrite(), network });
      const lost = await send({ headers, worker });
      expect(lost.status).toBeGreaterThanOrEqual(400);
      const before = await rows();
      const repeated = await send({ headers });
      expect(repeated.status).toBeLessThan(300);
      expect(repeated.headers.get("idempotency-replayed")).toBe("true");
      expect(await rows()).toEqual(before);
    },
  );

  it.each(repeatable.map(named))(
    "%s has one effect if its repeat overtakes it, and one of its own with another credential",
    async (_, operation) => {
      const { send, rows, fixture } = await prepareWrite(operation);
      const { client } = await newKey(fixture.world);
      const headers = newIdempotencyKey();
      const replies: Reply[] = [];
      const overtake = async () => replies.push(await send({ headers }));
      const { worker, between } = await newOvertaken(overtake, rows);
      const overtaken = await send({ headers, worker });
      const [first] = replies;
      if (!first) throw new Error("The request has written nothing");
      expect(first.status, first.text).toBeLessThan(300);
      expectRepeat(overtaken, first);
      expect(await rows()).toEqual(between.rows);
      expect((await send({ headers, client })).headers.get("idempotency-replayed")).toBeNull();
    },
  );
});

/** It has the current tag, and wrote nothing. Returns the tag. */
async function expectConflict(
  { show, rows }: PreparedWrite,
  refused: Reply,
  before: Rows | undefined,
): Promise<string> {
  const current = await show();
  const etag = current && tagOf(current);
  const body = { code: "conflict", cause: { etag } };
  expect(refused, refused.text).toMatchObject({ status: 409, body });
  expect(await rows()).toEqual(before);
  return String(etag);
}

const ifMatch = (tag: string) => ({ headers: { "if-match": tag } });

/** No caller changes them: their tags stay. */
const UNCHANGING = ["deleteFreeze", "deleteTrust", "revokeInvitation"];

/** A write that another one overtakes is a conflict with its tag, but is done if it has no condition. */
async function expectOvertaken(operation: Operation, prepared: PreparedWrite, old: string) {
  const { send, rows, fixture } = prepared;
  const bump = () => bumpVersions(fixture.world.id);
  const { worker, between } = await newOvertaken(bump, rows);
  const key = operation.method === "PATCH" ? newIdempotencyKey() : {};
  const overtaken = await send({ headers: { "if-match": old, ...key }, worker });
  const current = await expectConflict(prepared, overtaken, between.rows);
  expect(current).not.toBe(old);
  if (operation.method === "DELETE") return;
  const { worker: other } = await newOvertaken(bump, rows);
  const unconditional = await send({ worker: other });
  expect(unconditional.status, unconditional.text).toBeLessThan(300);
  await expectConflict(prepared, await send(ifMatch(current)), await rows());
  expect((await send(ifMatch("*"))).status).toBeLessThan(300);
}

describe("If-Match", () => {
  it.each(conditional.map(named))(
    "of %s is a conflict with the current tag, before its reads or after them, unless it lists that tag",
    async (_, operation) => {
      const prepared = await prepareWrite(operation, true);
      const { send, rows, show, fixture } = prepared;
      const tag = async () => String((await show())?.headers.get("etag"));
      const before = await rows();
      const stale = await send(ifMatch('"999.000000000000000000000000"'));
      const old = await expectConflict(prepared, stale, before);
      await bumpVersions(fixture.world.id);
      const isUnchanging = UNCHANGING.includes(operation.operationId);
      expect((await tag()) === old).toBe(isUnchanging);
      if (!isUnchanging) await expectOvertaken(operation, prepared, await tag());
      const listed = await send(ifMatch(`"0.x", W/${(await tag()).replace(/"$/, '-gzip"')}`));
      expect(listed.status, listed.text).toBeLessThan(300);
    },
  );

  const deletionOf = ({ path }: Operation) =>
    operations.find((each) => each.path === path && each.method === "DELETE");
  /** Instead of 404: the credential has ended. */
  const STATUSES: Record<string, number> = { deleteAccount: 401, updateAccount: 401 };

  it.each(conditional.filter(deletionOf).map(named))(
    "of %s matches nothing, and nothing is written, if another request deletes it before the write",
    async (operationId, operation) => {
      const { send, rows, fixture, owner } = await prepareWrite(operation, true);
      const { query = "" } = caseOf(operation);
      const path = pathWith(operation, fixture.ids) + query;
      const remove = async () => expect((await owner.delete(path)).status).toBe(204);
      const { worker, between } = await newOvertaken(remove, rows);
      const { status, text } = await send({ ...ifMatch("*"), worker });
      expect(status, text).toBe(STATUSES[operationId] ?? 404);
      expect(await rows()).toEqual(between.rows);
    },
  );
});
