import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { Client, type Reply } from "../support/client.ts";
import { exampleBody, type Operation, operations, resolve } from "../support/contract.ts";
import { type Ids, newWorldWithIds, pathWith } from "../support/operations.ts";
import { newWorld, SharedKeys, type World } from "../support/world.ts";

const MAXIMUM_BYTES = 1.1 * 1024 * 1024;

const nested = (levels: number, open: string, close: string) =>
  open.repeat(levels) + close.repeat(levels);
const text = (value: unknown) => JSON.stringify(value);

/** JSON texts, because a serializer would not produce some of them. */
const CORPUS = {
  "65 arrays": nested(65, "[", "]"),
  "1,100 arrays": nested(1_100, "[", "]"),
  "100,000 arrays": nested(100_000, "[", "]"),
  "1,100 objects": `${'{"a":'.repeat(1_100)}1${"}".repeat(1_100)}`,
  "a text of a million characters": text("x".repeat(1_000_000)),
  "100,000 items": text(Array.from({ length: 100_000 }, () => 0)),
  "20,000 fields": text(
    Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key-${at}`, at])),
  ),
  __proto__: '{"__proto__":{"polluted":1},"a":{"__proto__":[]}}',
  constructor: '{"constructor":{"prototype":{"polluted":1}}}',
  "inherited names": '{"toString":1,"hasOwnProperty":1,"valueOf":null,"length":-1,"then":1}',
  "a lone surrogate": '"\\ud800"',
  NUL: '"a\\u0000b"',
  "an escape sequence": '"\\u001b[31mred\\u001b[0m"',
  "a text from right to left": text("\u202eabc\u2066\u200d"),
  "a number beyond doubles": "1e999",
  "a large negative number": "-1e308",
  "a number beyond integers": "9007199254740993",
  "a small fraction": "5e-324",
  "minus zero": "-0",
  "a long number": "1".repeat(400),
  null: "null",
  true: "true",
  "an empty text": '""',
  "an empty array": "[]",
  "an empty object": "{}",
  "a pattern": text("(a+)+$".repeat(200)),
  "markup and SQL": text("'; drop table projects; -- <script>alert(1)</script> {{7*7}} %s%n"),
  "a pointer into prototypes": text([
    { op: "add", path: "/hasOwnProperty/call", value: 1 },
    { op: "add", path: "/__proto__/polluted", value: 1 },
    { op: "copy", from: "/constructor/prototype", path: "/a" },
  ]),
};

const PARAMETERS = ["__proto__", "constructor", "%00", "%ff", "..%2f..", "x".repeat(2_000), "🔑"];
const QUERIES = [
  "limit=1e3&after=%00&sort_by=constructor",
  `after=${"A".repeat(4_000)}`,
  "limit=9007199254740993",
  "status=__proto__&role=toString&status=queued",
  `status=${Array.from({ length: 500 }, () => "queued").join(",")}`,
  "__proto__[polluted]=1&constructor.prototype.polluted=1",
];

const isRunners = ({ security }: Operation) =>
  security.length > 0 && security.every((each) => "runner_token" in each);

class Sender {
  readonly #keys: SharedKeys;
  readonly #ids: Ids;

  constructor(world: World, ids: Ids) {
    this.#keys = new SharedKeys(world);
    this.#ids = ids;
  }

  async send(operation: Operation, path: string, body?: string): Promise<Reply> {
    const client = isRunners(operation) ? new Client(this.#ids["runner"]) : await this.#keys.next();
    return client.request(operation.method, path, body, {
      authorization: `Bearer ${env.BOOTSTRAP_TOKEN}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(isRunners(operation) && { "lease-token": String(this.#ids["lease"]) }),
    });
  }
}

function expectSound(reply: Reply, what: string): void {
  expect(reply.status === 501 || reply.status < 500, `${what}: ${reply.status}`).toBe(true);
  // The limit would answer instead of the operation.
  expect(reply.status, what).not.toBe(429);
  expect(new TextEncoder().encode(reply.text).length, what).toBeLessThan(MAXIMUM_BYTES);
}

const prototypes = () =>
  [Object.prototype, Array.prototype, String.prototype, Number.prototype, Function.prototype].map(
    (each) => Object.getOwnPropertyNames(each).toSorted(),
  );

/** The fields that received every value, each with its schema. */
const filled = new Set<string>();

/** Of fields with the same name and schema, only the first. */
function isFirst([field, schema]: [string, unknown]): boolean {
  const name = `${field}: ${text(schema)}`;
  if (filled.has(name)) return false;
  filled.add(name);
  return true;
}

const LARGE_CHARACTERS = 10_000;
let hasSentLargeBodies = false;

/**
 * A sample of the hostile values as the whole body and as the value of each field. All of them, the
 * large ones included, as the whole body of the first operation.
 */
function hostileBodies(operation: Operation): [string, string][] {
  const example = exampleBody(operation);
  const schema = operation.requestBody?.content["application/json"]?.schema;
  if (!example || !schema) return [];
  const fields = Object.entries(resolve(schema)["properties"] ?? {}).filter(isFirst);
  const small = Object.entries(CORPUS).filter(([, json]) => json.length < LARGE_CHARACTERS);
  const bodies = hasSentLargeBodies ? sampleOf(small) : Object.entries(CORPUS);
  hasSentLargeBodies = true;
  const inFields = Object.entries(CORPUS).flatMap(([name, json]) =>
    fields.map(([field]): [string, string] => {
      const { [field]: _, ...rest } = example;
      const others = text(rest).slice(1, -1);
      return [`${name} as ${field}`, `{${others ? `${others},` : ""}${text(field)}:${json}}`];
    }),
  );
  return [...bodies, ...sampleOf(inFields)];
}

let seen = 0;

/** One in `hostileStride`. Each field gets other values, because 9 does not divide their number. */
function sampleOf<Item>(items: readonly Item[]): Item[] {
  const stride = env.EFFORT.hostileStride;
  return items.filter(() => seen++ % stride === 0);
}

type Fixture = ReturnType<typeof newWorldWithIds>;

/** More would exceed the limit of their organization. */
const OPERATIONS_PER_FIXTURE = 5;

let shared: { fixture: Fixture; uses: number } | undefined;

/** Shared, except by operations that could delete the records or end the attempt of others. */
function fixtureOf(operation: Operation): Fixture {
  if (operation.method === "DELETE" || isRunners(operation)) return newWorldWithIds();
  if (!shared || shared.uses === OPERATIONS_PER_FIXTURE)
    shared = { fixture: newWorldWithIds(), uses: 0 };
  shared.uses += 1;
  return shared.fixture;
}

/** Another organization, which each operation must leave able to work. */
let bystander: SharedKeys;

beforeAll(async () => {
  bystander = new SharedKeys(await newWorld());
});

describe.each(operations.map((each) => [`${each.method} ${each.path}`, each] as const))(
  "%s",
  (_, operation) => {
    let sender: Sender;
    let ids: Ids;
    let before: string[][];

    beforeAll(async () => {
      const fixture = await fixtureOf(operation);
      ids = fixture.ids;
      sender = new Sender(fixture.world, ids);
      before = prototypes();
    });

    it("answers hostile input with a declared code, and continues to work", async () => {
      for (const [what, body] of hostileBodies(operation)) {
        expectSound(await sender.send(operation, pathWith(operation, ids), body), what);
      }
      const parameters = [...operation.path.matchAll(/\{(.+?)\}/g)].map(([, name]) => String(name));
      for (const name of parameters) {
        for (const value of sampleOf(PARAMETERS)) {
          const path = pathWith(operation, { ...ids, [name]: value });
          const body = operation.requestBody && text(exampleBody(operation));
          expectSound(await sender.send(operation, path, body), `{${name}} = ${value}`);
        }
      }
      for (const query of operation.method === "GET" ? QUERIES : []) {
        expectSound(await sender.send(operation, `${pathWith(operation, ids)}?${query}`), query);
      }
      expect(prototypes()).toEqual(before);
      expect((await (await bystander.next()).get("/v1/orgs")).status).toBe(200);
    });
  },
);
