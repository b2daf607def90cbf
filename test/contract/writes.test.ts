import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { openForWriting } from "../../src/db/client.ts";
import { presentAuditEntry } from "../../src/features/housekeeping/audit/presenters.ts";
import { auditLog } from "../../src/features/housekeeping/audit/table.ts";
import { refuseRecords } from "../support/audit.ts";
import { CANARY_PREFIX } from "../support/canary-secrets.ts";
import { newAddress, type Parsed, type Reply } from "../support/client.ts";
import { type Operation, operations, resolve } from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import {
  accepts,
  allWrites,
  caseOf,
  conditional,
  expectBadHeader,
  expectRepeat,
  named,
  newIdempotencyKey,
  type PreparedWrite,
  prepareWrite,
  readCreated,
  repeatable,
  tagOf,
  writes,
} from "../support/prepared-writes.ts";
import { accountOf, newKey, newWorld, SharedKeys } from "../support/world.ts";
import { WRITE_CASES } from "../support/write-cases.ts";
import { bumpVersions, type Rows } from "../support/written-rows.ts";

/** A request that has succeeded, and what a GET showed before it. */
interface Sent {
  operation: Operation;
  prepared: PreparedWrite;
  reply: Reply;
  shown: Reply | undefined;
}

const ORIGIN = { "cf-connecting-ip": newAddress(), "user-agent": "audit-test/1" };

describe("the cases of test/support/write-cases.ts", () => {
  it("are those of every operation that writes", () => {
    const names = allWrites.map(({ operationId }) => operationId);
    const cases = Object.keys(WRITE_CASES);
    expect({
      add: names.filter((name) => !cases.includes(name)),
      remove: cases.filter((name) => !names.includes(name)),
    }).toEqual({ add: [], remove: [] });
  });
});

describe("the document", () => {
  it("has the key on every POST and PATCH with an API key, and on no other operation", () => {
    const names = ({ parameters = [] }: Operation) =>
      parameters.map((each) => String(resolve(each)["name"]));
    const declaring = operations.filter((each) => names(each).includes("Idempotency-Key"));
    expect(declaring).toEqual(repeatable);
  });

  it("has a Location on every 201, except that of several records, of a decision, of a session and of a link", () => {
    const without = operations.filter(({ responses }) => {
      const created = responses["201"];
      return created && !("Location" in (resolve(created)["headers"] as object));
    });
    // No operation reads one decision, one session or one link.
    expect(without.map(({ operationId }) => operationId).toSorted()).toEqual([
      "addProjectMembers",
      "createApproval",
      "createSession",
      "createSignInLink",
    ]);
  });
});

async function actorOf({ caller, fixture: { world } }: PreparedWrite): Promise<object> {
  const { keyId, membershipId: membership_id } = caller;
  const ids = { membership_id, account_id: await accountOf(caller) };
  if ("sessionId" in caller) {
    const created_by = { key_id: keyId, membership_id };
    return { type: "session", credential_id: caller.sessionId, ...ids, created_by };
  }
  const created_by = { key_id: world.keyId, membership_id: world.membershipId };
  return { type: "api_key", credential_id: keyId, ...ids, created_by };
}

/** The audit entries of a request, with the organization whose log has them. */
async function entriesOf({ headers }: Reply): Promise<Parsed[]> {
  const { db } = openForWriting(env.DB);
  const isOfRequest = eq(auditLog.requestId, String(headers.get("x-request-id")));
  const rows = await db.select().from(auditLog).where(isOfRequest);
  const entries = rows.map((row) => {
    const names = { actorName: null, projectName: null, sourceName: null };
    const parents = { inComponent: null, ofDeployment: null, inEnvironment: null };
    const entry = presentAuditEntry({ ...row, ...names, ...parents });
    const { source: _, targets: __, ...recorded } = entry;
    return { org_id: row.organizationId, ...recorded };
  });
  return JSON.parse(JSON.stringify(entries));
}

/** The audit entries of its case, in any order, with the actor, the origin and the project. */
async function expectAudited({ operation, prepared, reply, shown }: Sent, actor: object) {
  const { acts } = caseOf(operation);
  const { fixture, caller } = prepared;
  const { operationId, path } = operation;
  const isInProject = !/^\/v1\/(orgs|account|sessions|sign-in)/.test(path);
  const project_id = operationId === "createProject" ? reply.body.id : fixture.project.id;
  const common = {
    id: expect.any(String),
    created_at: expect.any(String),
    outcome: "success",
    org_id: operationId === "createOrganization" ? reply.body.id : fixture.world.id,
    actor,
    client_address: ORIGIN["cf-connecting-ip"],
    user_agent: ORIGIN["user-agent"],
    request_id: reply.headers.get("x-request-id"),
    ...(isInProject && { project_id }),
  };
  const done = { fixture, caller, reply: reply.body, shown: shown?.body };
  const expected = typeof acts === "string" ? [] : acts(done);
  const written = await entriesOf(reply);
  expect(written).toHaveLength(expected.length);
  expect(written).toEqual(expect.arrayContaining(expected.map((act) => ({ ...common, ...act }))));
}

const versionIn = (reply: Reply) => Number(/\d+/.exec(tagOf(reply))?.[0]);

/** The response has the tag and the fields that a GET shows then, and a version of its own. */
async function expectTag({ prepared, reply, shown }: Sent): Promise<void> {
  if (!reply.headers.has("etag")) return;
  const location = reply.headers.get("location");
  // The service sends a delivery, which changes it.
  if (reply.body.event_id) return;
  const read = location ? await readCreated(location, prepared, reply) : await prepared.show();
  expect(read && tagOf(read)).toBe(tagOf(reply));
  // The connection of a project has the tag of the project.
  if (!reply.body.provider) expect(reply.body).toMatchObject(read?.body);
  if (location === null && shown) expect(versionIn(reply)).toBe(versionIn(shown) + 1);
}

/** What only the first response and its repeats show. */
function secretsIn(body: unknown): string[] {
  const found = JSON.stringify(body ?? null).matchAll(
    /"(?:key|token|secret|url|link)":"([^"]{20,})"/g,
  );
  return [...found].map(([, text]) => String(text)).filter((text) => /^(ls|wh)|#|token/.test(text));
}

/** By the hash of its secret: the version of each credential that other isolates must read again. */
function changedKeys(before: Rows, after: Rows): Map<unknown, unknown> {
  const keysIn = (rows: Rows) => [rows["api_keys"] ?? [], rows["runner_tokens"] ?? []].flat();
  const versions = new Map(keysIn(after).map(({ id, version }) => [id, version]));
  return new Map(
    keysIn(before)
      .filter(({ id, version }) => versions.get(id) !== version)
      .map(({ id, secret_hash }) => [secret_hash, versions.get(id)]),
  );
}

/** The entry for repeats, which has secrets only sealed. */
function expectEntry(key: string, { body }: Reply, before: Rows, after: Rows): void {
  const entries = (after["idempotency_records"] ?? []).filter((each) => each["key"] === key);
  expect(entries).toHaveLength(1);
  const { secrets: sealed, changed_keys } = entries[0] ?? {};
  const secrets = secretsIn(body);
  const stored = JSON.stringify(entries);
  for (const secret of [...secrets, CANARY_PREFIX]) expect(stored).not.toContain(secret);
  // An address that the response does not show.
  if (!JSON.stringify(body ?? null).includes("@")) expect(stored).not.toContain("@");
  expect(sealed).toMatch(secrets.length > 0 ? /^test\.v2\./ : /^(test\.v2\..*)?$/);
  const listed: Parsed[] = JSON.parse(String(changed_keys));
  const changed = changedKeys(before, after);
  expect(new Set(listed.map(({ secretHash }) => secretHash))).toEqual(new Set(changed.keys()));
  for (const { secretHash, version } of listed) {
    const current = changed.get(secretHash);
    // A key that is revoked has the highest version.
    if (current === undefined) expect(version).toBeGreaterThan(Date.now() - 86_400_000);
    else expect(version).toBe(current);
  }
}

/** Whatever was written since, and with nothing else. */
async function expectRepeats({ send, rows, fixture }: PreparedWrite, key: object, first: Reply) {
  await bumpVersions(fixture.world.id);
  const before = await rows();
  const headers = { ...key };
  expectRepeat(await send({ headers }), first);
  expectRepeat(await send({ headers, worker: new Instrumented() }), first);
  expectBadHeader(await send({ headers, query: "?other=1" }), "Idempotency-Key");
  expect(await rows()).toEqual(before);
}

/** A PUT or PATCH that changes nothing has no effect, but a PATCH can be repeated. */
async function expectNoOp({ method, requestBody }: Operation, prepared: PreparedWrite) {
  const { send, rows, fixture } = prepared;
  const withoutEntries = ({ idempotency_records: _, idempotency_totals: __, ...others }: Rows) =>
    others;
  const before = await rows();
  if (method === "PATCH" && requestBody) expect((await send({ body: {} })).status).toBe(200);
  const headers = method === "PATCH" ? newIdempotencyKey() : {};
  const reply = await send({ headers });
  expect(reply.status, reply.text).toBeLessThan(300);
  expect(withoutEntries(await rows())).toEqual(withoutEntries(before));
  if (method !== "PATCH") return;
  await bumpVersions(fixture.world.id);
  expectRepeat(await send({ headers }), reply);
}

describe("a write", () => {
  it.each(writes.map(named))(
    "%s has one effect, one response, and the audit entries of its case",
    async (_, operation) => {
      const prepared = await prepareWrite(operation);
      const actor = await actorOf(prepared);
      const key = newIdempotencyKey();
      const shown = await prepared.show();
      const before = await prepared.rows();
      const reply = await prepared.send({ headers: { ...ORIGIN, ...key } });
      expect(reply.status, reply.text).toBeLessThan(300);
      expect(reply.headers.get("idempotency-replayed")).toBeNull();
      const after = await prepared.rows();
      const sent = { operation, prepared, reply, shown };
      await expectAudited(sent, actor);
      await expectTag(sent);
      if (repeatable.includes(operation)) {
        expectEntry(key["idempotency-key"], reply, before, after);
        await expectRepeats(prepared, key, reply);
      }
      const isChange = operation.method === "PUT" || operation.method === "PATCH";
      if (isChange && !caseOf(operation).repeats) await expectNoOp(operation, prepared);
    },
  );

  // The tests above have filled it, with secrets in every place that takes one.
  it("leaves no secret and no e-mail address in any column of the audit log", async () => {
    const { results } = await env.DB.prepare("select * from audit_log").all();
    const text = JSON.stringify(results);
    for (const action of ["integration.created", "variable.updated", "invitation.created"]) {
      expect(text).toContain(action);
    }
    expect(text).not.toContain(CANARY_PREFIX);
    // The last two are a token of a CI job and an e-mail address.
    expect(text).not.toMatch(/ls[a-z]_|whsec_|eyJ[\w-]+\.|@/);
  });
});

describe("a refused write", () => {
  let outsiders: SharedKeys;

  beforeAll(async () => {
    outsiders = new SharedKeys(await newWorld());
  });

  /** By people without the role, by others, and with a condition that it does not have. */
  async function sendRefused(operation: Operation, { send, fixture }: PreparedWrite) {
    const { world, outsiderId: membershipId } = fixture;
    const outsider = await newKey(world, { membershipId, role: "member" });
    const others = [outsider.client, await outsiders.next()];
    return async () => {
      for (const client of caseOf(operation).needsNoRole ? [] : others) {
        const refused = await send({ client });
        expect([403, 404], refused.text).toContain(refused.status);
      }
      if (operation.method === "GET" || conditional.includes(operation)) return;
      if (!accepts("api_key")(operation)) return;
      expectBadHeader(await send({ headers: { "if-match": "*" } }), "If-Match");
    };
  }

  it.each(writes.map(named))(
    "%s changes nothing, and neither does one without its audit entry",
    async (_, operation) => {
      const prepared = await prepareWrite(operation, true);
      const { send, rows, caller } = prepared;
      const refuse = await sendRefused(operation, prepared);
      const before = await rows();
      await refuse();
      if (typeof caseOf(operation).acts !== "string") {
        const id = "sessionId" in caller ? String(caller.sessionId) : caller.keyId;
        const allow = await refuseRecords(id);
        expect((await send()).status).toBe(500);
        await allow();
      }
      expect(await rows()).toEqual(before);
    },
  );
});
