import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LINE, PARAGRAPHS, TEXT } from "../../src/lib/text-patterns.ts";
import type { Client, Reply } from "../support/client.ts";
import { type Operation, operations, resolve } from "../support/contract.ts";
import { newPool, newProject, newWorld, SharedKeys, type World } from "../support/world.ts";

type Node = Record<string, unknown>;

/** A text field of a body. In `path`, `0` is the first item of an array. */
interface TextField {
  operation: Operation;
  path: string[];
  schema: Node;
  /** What else a body needs, so that its schema is the one of a union that has the field. */
  base: Node;
}

const ELSEWHERE = [
  // JSON pointers have their own format; documents.test.ts tests them.
  /^patch\.0\.(path|from)$/,
  // The value of a variable may be any text, such as a key or a certificate.
  /^(variables\.0\.)?value$/,
];
/** Texts that may have several lines. */
const WITH_LINES = /^(status_reason|message|description|bio)$|\.command\.0$/;
const lastOf = ({ path }: TextField) => String(path.at(-1));
const titleOf = ({ operation, path }: TextField) =>
  `${path.join(".")} of ${operation.method} ${operation.path}`;
const mayHaveLines = (field: TextField) =>
  WITH_LINES.test(lastOf(field)) || WITH_LINES.test(field.path.join("."));

/** Every text field of a schema, optional and nullable ones included. */
function textsIn(node: Node, path: string[] = []): { path: string[]; schema: Node }[] {
  const schema = resolve(node);
  const branches = [schema["anyOf"], schema["oneOf"], schema["allOf"]].flat().filter(Boolean);
  if (branches.length > 0) return branches.flatMap((branch) => textsIn(branch as Node, path));
  if ([schema["type"]].flat().includes("string")) return [{ path, schema }];
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, Node>);
  const items = schema["items"] as Node | undefined;
  return [
    ...properties.flatMap(([name, each]) => textsIn(each, [...path, name])),
    ...(items ? textsIn(items, [...path, "0"]) : []),
  ];
}

function branchesOf(schema: Node): Node[] {
  const { oneOf } = resolve(schema) as { oneOf?: Node[] };
  return oneOf ?? [schema];
}

function textsOf(operation: Operation, branch: Node): TextField[] {
  const { properties = {} } = resolve(branch) as { properties?: Record<string, Node> };
  const constants = Object.entries(properties).flatMap(([name, { enum: all, const: one }]) => {
    const value = one ?? (Array.isArray(all) && all.length === 1 ? all[0] : undefined);
    return value === undefined ? [] : [[name, value] as const];
  });
  const base = Object.fromEntries(constants);
  const texts = textsIn(branch).filter(({ path }) => !(path.join(".") in base));
  return texts.map((each) => ({ operation, base, ...each }));
}

const fields: TextField[] = operations.flatMap((operation) => {
  const body = operation.requestBody?.content["application/json"]?.schema;
  return body ? branchesOf(body).flatMap((branch) => textsOf(operation, branch)) : [];
});
const walked = fields.filter(({ path }) => !ELSEWHERE.some((each) => each.test(path.join("."))));
const TEXT_PATTERNS: unknown[] = [undefined, LINE.source, TEXT.source, PARAGRAPHS.source];
/** Text fields that accept all characters but control characters. */
const free = walked.filter(
  ({ schema }) =>
    TEXT_PATTERNS.includes(schema["pattern"]) &&
    !schema["enum"] &&
    !schema["const"] &&
    !schema["format"],
);

/** A body with only this field. */
function bodyWith(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>(
    (inner, name) => (name === "0" ? [inner] : { [name]: inner }),
    value,
  );
}

let world: World;
let keys: SharedKeys;
let runner: Client;

async function startWorld(): Promise<void> {
  world = await newWorld();
  keys = new SharedKeys(world);
  const project = await newProject(world.client);
  ({ runner } = await newPool(world, [project.default_environment_id]));
}

beforeAll(startWorld);

/** The requests to all fields together exceed the limit of one organization. */
const REQUESTS_OF_WORLD = 500;
let requests = 0;

async function callerOf({ security, path }: Operation): Promise<Client> {
  requests += 1;
  if (requests % REQUESTS_OF_WORLD === 0) await startWorld();
  const isRunners = security.every((each) => "runner_token" in each) && path.includes("/runner/");
  return isRunners ? runner : keys.next();
}

/** The issue messages about a field, for each value. */
async function issuesOf({ operation, path, base }: TextField, values: readonly string[]) {
  const url = operation.path.replaceAll(/\{(.+?)\}/g, () => newId(systemClock));
  return Promise.all(
    values.map(async (value) => {
      const client = await callerOf(operation);
      const body = { ...base, ...(bodyWith(path, value) as object) };
      const reply = await client.request(operation.method, url, body);
      return messagesIn(reply, path.join("."));
    }),
  );
}

function messagesIn({ body }: Reply, path: string): string[] {
  const issues: { path: string; message: string }[] = body?.cause?.issues ?? [];
  return issues.filter((issue) => issue.path === path).map(({ message }) => message);
}

const open = walked.filter(({ operation }) => operation.path !== "/v1/bootstrap");
const cases = open.map((each) => [titleOf(each), each] as const);
const freeCases = open
  .filter((each) => free.includes(each))
  .map((each) => [titleOf(each), each] as const);

/** Those of commits and of their authors are as elsewhere. */
const isName = (field: TextField) =>
  /^(name|display_name)$/.test(lastOf(field)) && !field.path.includes("source");
const names = open.filter(isName).map((each) => [titleOf(each), each] as const);
const freeNames = names.filter(([, each]) => free.includes(each));
/** Format controls, invisible letters, line separators, and joiners and parts of emoji in other places. */
const HIDDEN = {
  "U+00AD": "a\u00adb",
  "U+034F": "a\u034fb",
  "U+061C": "a\u061cb",
  "U+115F": "a\u115fb",
  "U+180E": "a\u180eb",
  "U+200B": "a\u200bb",
  "U+200C": "a\u200c",
  "U+200D": "a \u200db",
  "U+200E": "a\u200e",
  "U+200F": "\u200fb",
  "U+2028": "a\u2028b",
  "U+202E": "a\u202eb",
  "U+2060": "a\u2060b",
  "U+2066": "a\u2066b",
  "U+3164": "a\u3164",
  "U+FE0F": "1\ufe0f",
  "U+FEFF": "a\ufeffb",
  "U+FFF9": "a\ufff9b",
  "U+E0061": "🏴\u{e0061}\u{e007f}",
  "U+E0100": "a\u{e0100}",
};
const VISIBLE = ["خانه‌ها", "क्‍ष", "👩‍💻 🏳️‍🌈 ❤️ ☎︎ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽 🇩🇪", "שלום", "Å Ω ﬁ"];

describe("names", () => {
  it("are found in every body", () => {
    expect(names.length).toBeGreaterThan(30);
    expect(freeNames.length).toBeGreaterThan(20);
  });

  it.each(names)("have no hidden characters: %s", async (_, field) => {
    for (const messages of await issuesOf(field, Object.values(HIDDEN))) {
      expect(messages).not.toEqual([]);
    }
  });

  it.each(freeNames)(
    "may be of any script, and have emoji; a message names the character: %s",
    async (_, field) => {
      expect(await issuesOf(field, VISIBLE)).toEqual(VISIBLE.map(() => []));
      expect(await issuesOf(field, Object.values(HIDDEN))).toEqual(
        Object.keys(HIDDEN).map((code) => [`Send a name without the invisible character ${code}.`]),
      );
    },
  );

  it("of an alarm have none in an address either", async () => {
    const path = `/v1/stacks/${newId(systemClock)}/alarms/a%E2%80%8Bb`;
    const reply = await world.client.request("PUT", path, { state: "ok" });
    expect(messagesIn(reply, "name")).toEqual([
      "Send a name without the invisible character U+200B.",
    ]);
  });
});

describe("texts", () => {
  it("are found in every body", () => {
    const names = new Set(fields.map(({ path }) => path.join(".")));
    for (const name of [
      "status_reason",
      "resources.0.status_reason",
      "resources.0.physical_id",
      "message",
      "source.git.commit.message",
      "source.registry.command.0",
      "reason",
      "profile.bio",
    ]) {
      expect(names).toContain(name);
    }
  });

  it.each(cases)(
    "must not contain NUL, lone surrogates or control characters: %s",
    async (_, field) => {
      const hostile = ["a\u0000b", "a\ud800b", "\udfffab", "a\u0007b", "a\u001b[31mb", "a\u0085b"];
      for (const messages of await issuesOf(field, hostile)) {
        expect(messages).not.toEqual([]);
      }
    },
  );

  it.each(freeCases)("may contain any other character: %s", async (_, field) => {
    const plain = ["ab", "é 🚢 <b>%00</b> ' \""];
    expect(await issuesOf(field, plain)).toEqual([[], []]);
    const [messages] = await issuesOf(field, ["a\tb\r\nc"]);
    expect(messages).toEqual(
      mayHaveLines(field) ? [] : ["Send a text without control characters."],
    );
  });

  it.each(cases)("report each issue once: %s", async (_, field) => {
    for (const messages of await issuesOf(field, ["", " ", "\u0000\ud800"])) {
      expect(messages).toEqual([...new Set(messages)]);
    }
  });

  it.each([
    ["GET", "/v1/slack/callback?code=a%00b&state=c", "code"],
    ["GET", "/v1/slack/callback?code=a&state=b%07c", "state"],
    ["PUT", `/v1/stacks/${newId(systemClock)}/alarms/a%00b`, "name"],
  ])("in an address have none either: %s %s", async (method, path, name) => {
    const alarm = method === "PUT" ? { state: "ok" } : undefined;
    const reply = await world.client.request(method, path, alarm);
    expect(messagesIn(reply, name)).toEqual(["Send a text without control characters."]);
  });

  it("that are empty report only one issue", async () => {
    const { body } = await world.client.post("/v1/projects", { name: "" });
    const issue = { path: "name", message: "Send a text that is not blank." };
    expect(body.cause.issues).toEqual([issue]);
  });

  it.each(["resources.0.physical_id", "status_reason", "message", "source.registry.command.0"])(
    "may be empty where they are optional information: %s",
    async (name) => {
      const field = fields.find(({ path }) => path.join(".") === name);
      if (!field) throw new Error(`There is no ${name}`);
      expect(await issuesOf(field, [""])).toEqual([[]]);
    },
  );
});

describe("timestamps", () => {
  const fieldsWithTime = fields.filter(({ schema }) => schema["format"] === "date-time");
  const timed = fieldsWithTime.map((each) => [titleOf(each), each] as const);
  const message =
    "Send an RFC 3339 date-time with seconds and an offset, within the years 0001 to 9999 in UTC, " +
    "as 2027-01-31T00:00:00Z.";

  it("are fields of API keys, freezes, recoveries and resources", () => {
    expect(fieldsWithTime.map(lastOf).toSorted()).toEqual([
      "ends_at",
      "ends_at",
      "expires_at",
      "expires_at",
      "expires_at",
      "expires_at",
      "since",
      "starts_at",
      "starts_at",
      "timestamp",
      "timestamp",
      "until",
    ]);
  });

  it.each(timed)("in the years 0001 to 9999 in UTC are accepted: %s", async (_, field) => {
    const good = [
      "0001-01-01T00:00:00Z",
      "0001-01-01T00:00:00-01:00",
      "9999-12-31T23:59:59.999Z",
      "9999-12-31T23:59:59+01:00",
      "2027-01-31T00:00:00.123456789+05:30",
    ];
    expect(new Set((await issuesOf(field, good)).flat())).not.toContain(message);
  });

  it.each(timed)("outside these years report one issue: %s", async (_, field) => {
    const bad = [
      "9999-12-31T23:59:59-01:00",
      "0000-06-01T00:00:00Z",
      "0001-01-01T00:00:00+01:00",
      "+010000-01-01T00:00:00Z",
      "-000001-01-01T00:00:00Z",
      "2027-01-31T00:00:00",
      "2027-01-31T00:00Z",
      "2027-02-30T00:00:00Z",
      "2027-01-31",
      "",
    ];
    for (const messages of await issuesOf(field, bad)) expect(messages).toEqual([message]);
  });

  it("in replies have four-digit years", async () => {
    const { id, client } = await newWorld();
    const latest = { name: "latest", expires_at: "9999-12-31T23:59:59+00:01" };
    const { status, body } = await client.post(`/v1/orgs/${id}/api-keys`, latest);
    expect([status, body.expires_at]).toEqual([201, "9999-12-31T23:58:59.000Z"]);
  });
});
