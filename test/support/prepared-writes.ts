import { expect } from "vitest";
import { Client, type Reply } from "./client.ts";
import { type Operation, operations } from "./contract.ts";
import { pathWith } from "./created.ts";
import { type Fixture, prepare } from "./operation-requests.ts";
import { accept, newKey, type Person } from "./world.ts";
import type { WriteCase } from "./write-acts.ts";
import { OF_RUNNERS, WRITE_CASES } from "./write-cases.ts";
import { rowsOf } from "./written-rows.ts";

export const accepts = (name: string) => (each: Operation) =>
  each.security.some((scheme) => name in scheme);
const isWrite = (each: Operation) => each.method !== "GET" || each["x-writes"] === true;

/** Those of callers with a key, a session or a runner token. */
export const allWrites = operations.filter(
  (each) => isWrite(each) && (accepts("session")(each) || accepts("runner_token")(each)),
);

/** Those that the tests send. */
export const writes = allWrites.filter(
  ({ operationId }) => !(operationId in OF_RUNNERS) && operationId !== "switchOrganization",
);
const withKey = writes.filter(accepts("api_key"));
export const repeatable = withKey.filter(({ method }) => method === "POST" || method === "PATCH");
export const conditional = withKey.filter(
  (each) => each["x-record"] === true && ["PUT", "PATCH", "DELETE"].includes(each.method),
);
export const named = (each: Operation) => [each.operationId, each] as const;

export function caseOf({ operationId }: Operation): WriteCase {
  const found = WRITE_CASES[operationId];
  if (!found) throw new Error(`Add a case for ${operationId} to test/support/write-cases.ts`);
  return found;
}

/** A key that the owner's has created: of the owner, or of a person whose account may end. */
async function newCaller({ path }: Operation, { world }: Fixture): Promise<Person> {
  const creator = { createdByKeyId: world.keyId, createdByMembershipId: world.membershipId };
  if (path !== "/v1/account") return newKey(world, { isOwn: true, ...creator });
  const { membershipId } = await accept(world);
  return newKey(world, { membershipId, role: "member", isOwn: true, ...creator });
}

/** A GET of what the operation writes: of its path, or of the resource that its path begins with. */
function readOf({ path, method, ...operation }: Operation): Operation | undefined {
  if (method === "GET") return undefined;
  // The connection of a project has the tag of the project.
  const isOfResource = operation["x-record"] === true;
  return operations
    .filter((each) => each.method === "GET" && `${path}/`.startsWith(`${each.path}/`))
    .filter((each) => each["x-record"] === true || (each.path === path && !isOfResource))
    .toSorted((one, other) => other.path.length - one.path.length)[0];
}

/** A request that succeeds, a key of the owner, and what they read and leave. */
export async function prepareWrite(operation: Operation, needsOwnFixture = false) {
  const credential = accepts("api_key")(operation) ? "api_key" : "session";
  const prepared = await prepare(operation, credential, {
    newCaller: (fixture) => newCaller(operation, fixture),
    needsOwnFixture,
    special: caseOf(operation),
  });
  const { fixture, caller } = prepared;
  const { client: owner } = await newKey(fixture.world);
  const read = readOf(operation);
  const reader = operation.path === "/v1/account" ? caller.client : owner;
  const show = async (): Promise<Reply | undefined> =>
    read && (await reader.get(pathWith(read, fixture.ids)));
  return { ...prepared, owner: reader, show, rows: () => rowsOf(fixture.world.id) };
}

export type PreparedWrite = Awaited<ReturnType<typeof prepareWrite>>;

/** What the `Location` of a response leads to. */
export function readCreated(location: string, { owner }: PreparedWrite, { body }: Reply) {
  const founder = body.api_key?.key;
  return (founder ? new Client(founder) : owner).get(location);
}

export const tagOf = ({ headers }: Reply) => String(headers.get("etag"));
export const newIdempotencyKey = () => ({ "idempotency-key": crypto.randomUUID() });

const headersOf = ({ headers }: Reply) =>
  ["content-type", "etag", "location"].map((name) => headers.get(name));

export function expectRepeat(repeated: Reply, first: Reply): void {
  expect(repeated.headers.get("idempotency-replayed"), repeated.text).toBe("true");
  expect([repeated.status, repeated.text]).toEqual([first.status, first.text]);
  expect(headersOf(repeated)).toEqual(headersOf(first));
}

export function expectBadHeader({ status, body }: Reply, header: string): void {
  expect([status, body.code, body.cause?.issues[0].path]).toEqual([400, "bad_input", header]);
}
