import { env } from "cloudflare:workers";
import { type SQL, sql } from "drizzle-orm";
import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openForWriting } from "../../src/db/client.ts";
import { Dialect } from "../../src/db/dialect.ts";
import { Ownership } from "../../src/db/ownership.ts";
import { FEATURES } from "../../src/features/index.ts";
import { projects } from "../../src/features/tenancy/project-table.ts";
import { isList } from "../support/all-reads.ts";
import { Client } from "../support/client.ts";
import type { Operation } from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import { isRead, prepare, withApiKey } from "../support/operation-requests.ts";
import { queryPlans } from "../support/query-plans.ts";
import { newKey, newWorld, type World } from "../support/world.ts";

/** D1 round trips and statements of a successful request with a cached key. */
interface Cost {
  trips: number;
  statements: number;
}

/** Of a write of a resource in a project. */
const WRITES: Record<string, Cost> = {
  POST: { trips: 2, statements: 6 },
  PUT: { trips: 2, statements: 5 },
  PATCH: { trips: 2, statements: 5 },
  DELETE: { trips: 2, statements: 6 },
};
const READ: Cost = { trips: 1, statements: 1 };
/** The second statement reads who may see the list. */
const LIST: Cost = { trips: 1, statements: 2 };

const ownership = new Ownership(FEATURES.flatMap(({ tables = [] }) => tables));
/** A statement for each table whose rows do not wait for the purge. */
const DELETED_WITH_PROJECT = Object.keys(
  ownership.deletionOf(openForWriting(env.DB).db, projects, "", sql`true`),
).length;

/** Of the operations that cost something else. Every read must take one round trip. */
const COSTS: Record<string, Cost> = {
  createOrganization: { trips: 1, statements: 5 },
  updateOrganization: { trips: 2, statements: 3 },
  deleteOrganization: { trips: 2, statements: 18 },
  addMember: { trips: 1, statements: 5 },
  replaceMember: { trips: 2, statements: 4 },
  removeMember: { trips: 2, statements: 17 },
  createInvitation: { trips: 1, statements: 4 },
  revokeInvitation: { trips: 2, statements: 3 },
  updateAccount: { trips: 2, statements: 4 },
  deleteAccount: { trips: 6, statements: 36 },
  getApiKey: { trips: 1, statements: 2 },
  rotateApiKey: { trips: 3, statements: 21 },
  revokeSession: { trips: 2, statements: 8 },
  listMemberSessions: { trips: 1, statements: 2 },
  revokeMemberSession: { trips: 2, statements: 8 },
  getUsage: { trips: 1, statements: 3 },
  getConnection: { trips: 1, statements: 2 },
  listApiKeyFamily: { trips: 1, statements: 4 },
  listSessionFamily: { trips: 1, statements: 4 },
  listMemberFamily: { trips: 1, statements: 4 },
  createSignInLink: { trips: 1, statements: 4 },
  putApiKeyPolicy: { trips: 2, statements: 3 },
  revokeApiKey: { trips: 2, statements: 10 },
  createRunnerPool: { trips: 1, statements: 5 },
  deleteRunnerPool: { trips: 2, statements: 10 },
  listRunnerPoolAttempts: { trips: 1, statements: 2 },
  listRunnerPoolRunners: { trips: 1, statements: 2 },
  listRunnerTokens: { trips: 1, statements: 2 },
  createRunnerToken: { trips: 2, statements: 4 },
  getRunnerToken: { trips: 1, statements: 2 },
  revokeRunnerToken: { trips: 2, statements: 4 },
  createServiceAccount: { trips: 1, statements: 4 },
  deleteServiceAccount: { trips: 2, statements: 17 },
  createTrust: { trips: 2, statements: 4 },
  deleteTrust: { trips: 2, statements: 15 },
  exportAuditLog: { trips: 1, statements: 2 },
  createProject: { trips: 1, statements: 8 },
  replaceProject: { trips: 2, statements: 7 },
  updateProject: { trips: 2, statements: 7 },
  deleteProject: { trips: 2, statements: 5 + DELETED_WITH_PROJECT },
  orderEnvironments: { trips: 2, statements: 8 },
  connectProject: { trips: 2, statements: 8 },
  disconnectProject: { trips: 2, statements: 15 },
  addProjectMembers: { trips: 2, statements: 8 },
  getProjectMember: { trips: 1, statements: 2 },
  replaceProjectMember: { trips: 2, statements: 8 },
  removeProjectMember: { trips: 2, statements: 8 },
  listIntegrations: { trips: 1, statements: 2 },
  createIntegration: { trips: 2, statements: 7 },
  updateIntegration: { trips: 2, statements: 7 },
  deleteIntegration: { trips: 2, statements: 9 },
  confirmIntegration: { trips: 2, statements: 6 },
  getDelivery: { trips: 1, statements: 2 },
  resumeIntegration: { trips: 2, statements: 9 },
  createRecovery: { trips: 2, statements: 2 },
  redeliver: { trips: 2, statements: 3 },
  pingIntegration: { trips: 2, statements: 3 },
  replaceEnvironment: { trips: 2, statements: 6 },
  updateEnvironment: { trips: 2, statements: 6 },
  deleteEnvironment: { trips: 2, statements: 15 },
  getProtection: { trips: 1, statements: 2 },
  replaceProtection: { trips: 3, statements: 9 },
  overrideDeployment: { trips: 4, statements: 10 },
  listPendingApprovals: { trips: 1, statements: 1 },
  listApprovals: { trips: 1, statements: 2 },
  createApproval: { trips: 4, statements: 11 },
  listFreezes: { trips: 1, statements: 1 },
  createFreeze: { trips: 2, statements: 7 },
  createProjectFreeze: { trips: 3, statements: 8 },
  deleteFreeze: { trips: 2, statements: 5 },
  deleteComponent: { trips: 2, statements: 10 },
  orderStacks: { trips: 2, statements: 7 },
  replaceStack: { trips: 2, statements: 7 },
  updateStack: { trips: 2, statements: 7 },
  deleteStack: { trips: 2, statements: 11 },
  createDeployment: { trips: 2, statements: 17 },
  cancelDeployment: { trips: 2, statements: 12 },
  redeployDeployment: { trips: 2, statements: 20 },
  getDeploymentConfiguration: { trips: 1, statements: 3 },
  compareEnvironments: { trips: 1, statements: 3 },
  previewDeployment: { trips: 1, statements: 7 },
  previewRedeployment: { trips: 1, statements: 11 },
  previewPromotion: { trips: 1, statements: 9 },
  promoteDeployment: { trips: 2, statements: 21 },
  replaceVariable: { trips: 2, statements: 7 },
  revealVariable: { trips: 2, statements: 3 },
  revealComponentVariables: { trips: 2, statements: 3 },
  revealEnvironmentVariables: { trips: 2, statements: 3 },
  createComponentVariable: { trips: 2, statements: 7 },
  putComponentVariables: { trips: 2, statements: 9 },
  createEnvironmentVariable: { trips: 2, statements: 7 },
  putEnvironmentVariables: { trips: 2, statements: 9 },
};

const reads = withApiKey.filter(isRead);
const writes = withApiKey.filter((each) => !isRead(each));
const named = (each: Operation) => [each.operationId, each] as const;

function costOf(operation: Operation): Cost {
  const { operationId, method, path } = operation;
  const isListInProject = isList(operation) && /\{(?!org_id)/.test(path);
  const usual = isListInProject ? LIST : (WRITES[method] ?? READ);
  return COSTS[operationId] ?? usual;
}

let world: World;

const { sqlToQuery } = Dialect.prototype;
const drizzle = new SQLiteAsyncDialect();
/** The texts of our dialect and of Drizzle's where they differ. */
const differences: unknown[] = [];
let compared = 0;

beforeAll(async () => {
  vi.spyOn(Dialect.prototype, "sqlToQuery").mockImplementation(function (
    this: Dialect,
    statement: SQL,
  ) {
    const ours = sqlToQuery.call(this, statement);
    const { sql: text, params } = drizzle.sqlToQuery(statement);
    compared += 1;
    if (JSON.stringify(ours) !== JSON.stringify({ sql: text, params })) {
      differences.push([ours, { sql: text, params }]);
    }
    return ours;
  });
  world = await newWorld();
});

afterAll(() => {
  vi.restoreAllMocks();
});

/** One database round trip and one object call, in parallel. */
function expectParallel(worker: Instrumented, operation: Operation): void {
  const [database, ...more] = worker.database;
  const [object, ...others] = worker.objects;
  if (!database || !object) throw new Error("The database or the object was not called");
  expect([more, others]).toEqual([[], []]);
  expect(database.statements).toHaveLength(costOf(operation).statements);
  expect(database.constraint).toBe("first-unconstrained");
  expect(database.began).toBeLessThan(object.ended);
  expect(object.began).toBeLessThan(database.ended);
}

/** Every statement finds its rows by an index, and scans only the lists in its parameters. */
async function expectNoScan(worker: Instrumented): Promise<void> {
  const statements = worker.database.flatMap((exchange) => exchange.statements);
  const plans = await queryPlans(statements);
  for (const [at, { sql, params }] of statements.entries()) {
    // Parameters are virtual tables, and the names in the pattern are of subqueries, which read an
    // index. The plan of an insert of a parent includes a scan of its children, which runs only
    // after a deferred violation.
    const scanned = (plans[at] ?? [])
      .filter((detail) => !detail.includes(" VIRTUAL TABLE"))
      .map(
        (detail) =>
          /^SCAN (?!home\b|membership\b|family\b|ancestor\b|origin\b|item\b|wanted\b|selected\b|record\b|part\b|named\b|list\b|fitting\b|stored\b|storage\b|same\b|root\b|member\b|family_member\b|made\b|former\b|CONSTANT)(\w+)/.exec(
            detail,
          )?.[1],
      )
      .filter((table) => table && !(sql.startsWith("insert") && !sql.includes(`"${table}"`)));
    expect(scanned, sql).toEqual([]);
    if (!sql.startsWith("select")) continue;
    // Of two with the same name, only one would be read.
    const statement = env.DB.prepare(sql).bind(...params);
    const [columns = []] = await statement.raw({ columnNames: true });
    expect(columns.toSorted(), sql).toEqual([...new Set(columns)].toSorted());
  }
}

describe("with a cached key", () => {
  it("every operation of the table exists", () => {
    const ids = withApiKey.map(({ operationId }) => operationId);
    expect(Object.keys(COSTS).filter((id) => !ids.includes(id))).toEqual([]);
  });

  it.each(reads.map(named))(
    "%s is one database round trip in parallel with one object call",
    async (_, each) => {
      const { worker, send } = await prepare(each);
      expect((await send()).status).toBeLessThan(300);
      expectParallel(worker, each);
      await expectNoScan(worker);
    },
  );

  it.each(reads.map(named))(
    "%s is one database round trip in parallel with one object call, also with a session",
    async (_, each) => {
      const { worker, send } = await prepare(each, "session");
      expect((await send()).status).toBeLessThan(300);
      expectParallel(worker, each);
      await expectNoScan(worker);
    },
  );

  it.each(["getProject", "listProjects"])("a HEAD of %s costs as much as its GET", async (id) => {
    const operation = reads.find(({ operationId }) => operationId === id);
    if (!operation) throw new Error(`There is no read called ${id}`);
    const { worker, send } = await prepare(operation);
    expect((await send({ method: "HEAD" })).status).toBe(200);
    expectParallel(worker, operation);
  });

  it.each(writes.map(named))(
    "%s calls the limiter before the database, and scans no table",
    async (_, each) => {
      const { worker, send } = await prepare(each);
      expect((await send()).status).toBeLessThan(300);
      const calls = worker.objects.map(({ statements: [call] }) => call?.sql);
      const [first] = worker.database;
      if (!first) throw new Error("The database was not called");
      const [consumption, ...more] = worker.objects.filter((_, at) => calls[at] === "consume");
      expect(consumption?.ended).toBeLessThan(first.began);
      expect(more).toEqual([]);
      // Costs are reported a second later.
      const others = ["consume", "raiseVersion", "report"];
      expect(calls.filter((call) => !others.includes(String(call)))).toEqual([]);
      expect(worker.database.every(({ constraint }) => constraint === "first-primary")).toBe(true);
      expect({
        trips: worker.database.length,
        statements: worker.database.flatMap(({ statements }) => statements).length,
      }).toEqual(costOf(each));
      await expectNoScan(worker);
    },
  );
});

const repeatable = writes.filter(({ method }) => method === "POST" || method === "PATCH");

describe("with an Idempotency-Key", () => {
  it.each(repeatable.map(named))(
    "%s costs one round trip more, and its repeat costs the reads of its authorization and one more",
    async (_, each) => {
      const { worker, send } = await prepare(each);
      const headers = { "idempotency-key": crypto.randomUUID() };
      const first = await send({ headers });
      expect(first.status).toBeLessThan(300);
      // What writes nothing else has no batch for its entry.
      const added = each.operationId === "previewDeployment" ? 2 : 1;
      expect(worker.database.length).toBeLessThanOrEqual(costOf(each).trips + added);
      await expectNoScan(worker);
      worker.forget();
      const repeated = await send({ headers });
      expect(repeated.headers.get("idempotency-replayed")).toBe("true");
      const [lookup, ...reads] = worker.database;
      expect(lookup?.statements.map(({ sql }) => sql.split(" ")[0])).toEqual(["delete", "select"]);
      // The last round trip of the first request writes.
      expect(reads.length).toBeLessThan(costOf(each).trips + added - 1);
      const texts = reads.flatMap(({ statements }) => statements.map(({ sql }) => sql));
      expect(texts.filter((text) => /^\s*(insert|update|delete)|\binsert into/.test(text))).toEqual(
        [],
      );
      await expectNoScan(worker);
    },
  );
});

describe("with a key that is not cached", () => {
  it("a request costs one more database round trip, and records the hour of its use once", async () => {
    const worker = new Instrumented();
    const { client } = await newKey(world);
    const caller = client.via(worker.fetch);
    await caller.get("/v1/orgs");
    const shapes = worker.database.map(({ statements }) => statements[0]?.sql.split(" ")[0]);
    expect(shapes.toSorted()).toEqual(["select", "select", "update"]);
    await caller.get("/v1/orgs");
    expect(worker.database).toHaveLength(4);
  });

  const malformed = {
    missing: undefined,
    empty: "",
    "of another kind": "lsr_abc",
    "mistyped in its last character": "last",
    "mistyped in its secret": "secret",
  };

  it.each(Object.entries(malformed))("a key that is %s costs no I/O", async (_, text) => {
    const worker = new Instrumented();
    const good = String((await newKey(world)).client.key);
    const swap = (at: number) =>
      good.slice(0, at) + (good.at(at) === "0" ? "1" : "0") + good.slice(at + 1);
    const key = { last: swap(good.length - 1), secret: swap(40) }[String(text)] ?? text;
    const reply = await new Client(key, worker.fetch).get("/v1/projects");
    expect(reply.status).toBe(401);
    expect(worker.exchanges).toEqual([]);
  });

  it("a well-formed key that does not exist is looked up once, then cached as unknown", async () => {
    const worker = new Instrumented();
    const { issueApiKey } = await import("../../src/features/identity/api-keys/index.ts");
    const { key } = await issueApiKey("1".repeat(22));
    const client = new Client(key, worker.fetch);
    expect((await client.get("/v1/projects")).status).toBe(401);
    const constraints = worker.database.map(({ constraint }) => constraint);
    expect(constraints).toEqual(["first-unconstrained", "first-primary"]);
    expect((await client.get("/v1/projects")).status).toBe(401);
    expect(worker.exchanges).toHaveLength(2);
  });
});

// The last, because it looks at what the others have sent.
describe("a statement of any operation", () => {
  it("has the text and the parameters that Drizzle's own dialect writes", () => {
    expect(compared).toBeGreaterThan(1000);
    expect(differences).toEqual([]);
  });
});
