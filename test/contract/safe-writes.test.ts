import { env } from "cloudflare:workers";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";
import { FEATURES } from "../../src/features/index.ts";
import type { Reply } from "../support/client.ts";
import { type Operation, operations, resolve } from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import { Issuer } from "../support/issuer.ts";
import { isRead, prepare, withApiKey } from "../support/operation-requests.ts";

const writes = withApiKey.filter((each) => !isRead(each));
const repeatable = writes.filter(({ method }) => method === "POST" || method === "PATCH");
const conditional = writes.filter(
  (each) => each["x-record"] === true && ["PUT", "PATCH", "DELETE"].includes(each.method),
);
const named = (each: Operation) => [each.operationId, each] as const;

/** What a use of a key and a consumer of the queue change in the background. */
const VOLATILE: Record<string, readonly string[]> = {
  api_keys: ["last_used_at"],
  sessions: ["last_used_at"],
  integrations: ["last_sent_at"],
  deliveries: ["status", "attempts", "due_at", "finished_at", "updated_at"],
};

const tables = FEATURES.flatMap(({ tables = [] }) => tables)
  .map(({ table }) => getTableConfig(table))
  .filter(({ columns }) => columns.some(({ name }) => name === "organization_id"))
  .filter(({ name }) => name !== "delivery_attempts");

/** All rows of an organization. */
async function rowsOf(organizationId: string): Promise<Record<string, object[]>> {
  const results = await env.DB.batch<Record<string, unknown>>(
    tables.map(({ name }) =>
      env.DB.prepare(`select * from ${name} where organization_id = ?`).bind(organizationId),
    ),
  );
  return Object.fromEntries(
    tables.map(({ name }, at) => {
      const rows = results[at]?.results ?? [];
      const ignored = VOLATILE[name] ?? [];
      const stable = rows.map((row) =>
        Object.fromEntries(Object.entries(row).filter(([column]) => !ignored.includes(column))),
      );
      return [name, stable];
    }),
  );
}

/** A database that fails after the first batch that writes, which it commits, as does a lost response. */
function failingAfterWrite(database: D1Database): D1Database {
  let hasFailed = false;
  const requireWorking = () => {
    if (hasFailed) throw new Error("D1_ERROR: Network connection lost.");
  };
  // The lookup of a record deletes it if it is too old.
  const isWrite = (statements: D1PreparedStatement[]) =>
    statements.some((each) =>
      /^(insert|update|delete(?! from "idempotency_records"))/.test(String(sqlOf.get(each))),
    );
  const sqlOf = new WeakMap<object, string>();
  const watch = (sql: string, statement: D1PreparedStatement): D1PreparedStatement => {
    sqlOf.set(statement, sql);
    const bind = statement.bind.bind(statement);
    return Object.assign(statement, {
      bind: (...values: unknown[]) => {
        const bound = bind(...values);
        sqlOf.set(bound, sql);
        return bound;
      },
    });
  };
  const withSession = (constraint: string) => {
    const session = database.withSession(constraint);
    return {
      prepare: (sql: string) => {
        requireWorking();
        return watch(sql, session.prepare(sql));
      },
      batch: async (statements: D1PreparedStatement[]) => {
        requireWorking();
        const results = await session.batch(statements);
        hasFailed = isWrite(statements);
        requireWorking();
        return results;
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

const headersOf = ({ headers }: Reply) =>
  Object.fromEntries(
    ["content-type", "etag", "location"].map((name) => [name, headers.get(name)] as const),
  );

function expectRepeat(repeated: Reply, first: Reply): void {
  expect(repeated.headers.get("idempotency-replayed")).toBe("true");
  expect(repeated.status).toBe(first.status);
  expect(repeated.text).toBe(first.text);
  expect(headersOf(repeated)).toEqual(headersOf(first));
}

/** What only the first response and its repeats show. */
function secretsIn(body: unknown): string[] {
  const found = JSON.stringify(body ?? null).matchAll(
    /"(?:key|token|secret|url|link)":"([^"]{20,})"/g,
  );
  return [...found].map(([, text]) => String(text)).filter((text) => /^(ls|wh)|#|token/.test(text));
}

describe("the document", () => {
  it("has the key on every POST and PATCH with an API key, and on no other operation", () => {
    const names = ({ parameters = [] }: Operation) =>
      parameters.map((each) => String(resolve(each)["name"]));
    const declaring = operations.filter((each) => names(each).includes("Idempotency-Key"));
    expect(declaring).toEqual(repeatable);
  });

  it("has a Location on every 201, except that of several records, of a session and of a link", () => {
    const without = operations.filter(({ responses }) => {
      const created = responses["201"];
      return created && !("Location" in (resolve(created)["headers"] as object));
    });
    // No operation reads one session or one link.
    expect(without.map(({ operationId }) => operationId).toSorted()).toEqual([
      "addProjectMembers",
      "createSession",
      "createSignInLink",
    ]);
  });
});

describe("with an Idempotency-Key", () => {
  it.each(repeatable.map(named))(
    "%s has one effect and one response, also in another isolate",
    async (_, operation) => {
      const { fixture, send } = await prepare(operation);
      const headers = { "idempotency-key": crypto.randomUUID() };
      const first = await send({ headers });
      expect(first.status).toBeLessThan(300);
      expect(first.headers.get("idempotency-replayed")).toBeNull();
      const before = await rowsOf(fixture.world.id);
      expectRepeat(await send({ headers }), first);
      expectRepeat(await send({ headers, worker: new Instrumented() }), first);
      expect(await rowsOf(fixture.world.id)).toEqual(before);
      const stored = JSON.stringify(before["idempotency_records"]);
      for (const secret of secretsIn(first.body)) expect(stored).not.toContain(secret);
    },
  );

  it.each(repeatable.map(named))(
    "%s has one effect if the response to its commit is lost and the Worker ends",
    async (_, operation) => {
      const { fixture, send } = await prepare(operation);
      const headers = { "idempotency-key": crypto.randomUUID() };
      const network = (await Issuer.create()).fetch;
      const worker = new Instrumented({ database: failingAfterWrite(env.DB), network });
      const lost = await send({ headers, worker });
      expect(lost.status).toBeGreaterThanOrEqual(400);
      const before = await rowsOf(fixture.world.id);
      const repeated = await send({ headers });
      expect(repeated.status).toBeLessThan(300);
      expect(repeated.headers.get("idempotency-replayed")).toBe("true");
      expect(await rowsOf(fixture.world.id)).toEqual(before);
    },
  );
});

describe("with an If-Match that is not the record's", () => {
  it.each(conditional.map(named))("%s is a conflict and changes nothing", async (_, operation) => {
    const { fixture, send } = await prepare(operation);
    const before = await rowsOf(fixture.world.id);
    const refused = await send({ headers: { "if-match": '"999.000000000000000000000000"' } });
    expect(refused).toMatchObject({ status: 409, body: { code: "conflict" } });
    const etag = String(refused.body.cause.etag);
    expect(await rowsOf(fixture.world.id)).toEqual(before);
    expect((await send({ headers: { "if-match": `W/${etag}` } })).status).toBeLessThan(300);
  });
});

describe("a condition that an operation does not have", () => {
  const others = writes.filter((each) => each.method !== "GET" && !conditional.includes(each));

  it.each(others.map(named))("is refused by %s", async (_, operation) => {
    const { fixture, send } = await prepare(operation);
    const before = await rowsOf(fixture.world.id);
    const refused = await send({ headers: { "if-match": "*" } });
    expect(refused).toMatchObject({ status: 400, body: { code: "bad_input" } });
    expect(refused.body.cause.issues[0].path).toBe("If-Match");
    expect(await rowsOf(fixture.world.id)).toEqual(before);
  });
});
