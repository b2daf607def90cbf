import { describe, expect, it } from "vitest";
import { ERRORS } from "../../src/lib/errors.ts";
import { EXAMPLE_IDS, type ExampleKind, exampleId } from "../../src/lib/example-ids.ts";
import { CHANGED_TYPES, TARGET_TYPES } from "../../src/lib/resource-types.ts";
import type { Parsed } from "../support/client.ts";
import {
  errorExamples,
  mismatches,
  type Operation,
  openApi,
  operations,
  published,
  publishedOperations,
  resolve,
} from "../support/contract.ts";

type Node = Record<string, unknown>;

const components: Record<string, Parsed> = openApi.components.schemas;
const title = ({ method, path }: Operation) => `${method} ${path}`;
const cases = operations.map((each) => [title(each), each] as const);
const wordsOf = (text: string) => text.toLowerCase().match(/[a-z]+/g) ?? [];

/** Every object of the document with its path, examples left out. */
function nodesIn(value: unknown, path: string[] = []): { path: string[]; node: Node }[] {
  if (typeof value !== "object" || value === null) return [];
  const nested = Object.entries(value)
    .filter(([key]) => key !== "example" && key !== "examples")
    .flatMap(([key, each]) => nodesIn(each, [...path, key]));
  return Array.isArray(value) ? nested : [{ path, node: value as Node }, ...nested];
}

const nodes = nodesIn(openApi);
const properties = nodes
  .filter(({ path }) => path.at(-2) === "properties")
  .map(({ path, node }) => ({ name: String(path.at(-1)), where: path.join("/"), node }));

describe("a property", () => {
  /** These components only name a format. */
  const FORMATS = ["#/components/schemas/Identifier", "#/components/schemas/Timestamp"];

  const describedBy = (node: Node): string => {
    const isFormat = FORMATS.includes(String(node["$ref"]));
    return String(node["description"] ?? (isFormat ? "" : resolve(node)["description"]) ?? "");
  };

  it("is described in words that say more than its name and its format", () => {
    expect(properties.length).toBeGreaterThan(400);
    const vague = properties.filter(({ name, node }) => {
      const known = [...wordsOf(name), "a", "an", "the", "id", "timestamp", "identifier", "of"];
      return wordsOf(describedBy(node)).filter((word) => !known.includes(word)).length < 2;
    });
    expect(vague.map(({ where }) => where)).toEqual([]);
  });

  it("that is optional in a response says when it is absent", () => {
    const responses = ["Project", "Stack", "Variable", "Delivery", "Integration", "ApiKey"];
    const silent = responses.flatMap((name) => {
      const { properties: all, required } = components[name];
      return Object.entries<Node>(all)
        .filter(([property]) => !required.includes(property))
        .filter(([, node]) => !/\babsent\b|^Nothing is sent/i.test(describedBy(node)))
        .map(([property]) => `${name}.${property}`);
    });
    expect(silent).toEqual(["Project.description", "Project.icon"]);
  });

  it("that is a duration is never negative", () => {
    const durations = properties.filter(
      ({ name, node }) => /_(seconds|ms)$/.test(name) && resolve(node)["type"] === "integer",
    );
    expect(durations.length).toBeGreaterThan(20);
    const signed = durations.filter(({ node }) => !(Number(resolve(node)["minimum"]) >= 0));
    expect(signed.map(({ where }) => where)).toEqual([]);
  });

  it("that is a secret says that it is shown once", () => {
    expect(components["CreatedOrganization"].allOf[1].properties.api_key.description).toContain(
      "shown only once",
    );
  });
});

describe("a component", () => {
  it("has its own description, and not that of its first use", () => {
    const undescribed = Object.entries(components).filter(
      ([, schema]) => wordsOf(String(schema.description ?? "")).length < 3,
    );
    expect(undescribed.map(([name]) => name)).toEqual([]);
    expect(components["OrgRole"].description).toMatch(/^A role in the organization/);
    expect(components["CreatedApiKey"].description).toMatch(/^A new API key/);
    expect(components["EnvironmentReference"].description).toMatch(/^The environment, as far/);
  });

  it("contains every enum, so that no generator has to invent its name", () => {
    const inline = nodes.filter(
      ({ path, node }) => Array.isArray(node["enum"]) && path.at(-2) !== "schemas",
    );
    expect(inline.map(({ path }) => path.join("/"))).toEqual([]);
    const names = Object.keys(components).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  });

  it("is the body of each webhook, named after the type of the event", () => {
    const references = Object.entries(openApi.webhooks).map(([type, { post }]) => [
      type,
      post.requestBody?.content["application/json"]?.schema["$ref"],
    ]);
    expect(references).toContainEqual([
      "deployments.in_progress",
      "#/components/schemas/DeploymentsInProgressEvent",
    ]);
    const variants: Node[] = components["EventPayload"].anyOf;
    expect(references.map(([, reference]) => reference)).toEqual(
      variants.map((each) => each["$ref"]),
    );
  });
});

describe("a path parameter", () => {
  it("has one name for each kind of record, which says the kind", () => {
    const names = new Map<string, Set<string>>();
    // A link has a token instead of an ID, and {session_id} is one of the caller's own sessions.
    const records = operations.filter(
      ({ path }) => path.startsWith("/v1/") && !path.includes("{member_session_id}"),
    );
    for (const { path } of records) {
      for (const [, collection = "", name = ""] of path.matchAll(/([\w-]+)\/\{(\w+)\}/g)) {
        names.set(collection, (names.get(collection) ?? new Set()).add(name));
      }
    }
    const several = [...names].filter(([, each]) => each.size > 1 || each.has("id"));
    expect(several).toEqual([]);
    expect([...(names.get("deployments") ?? [])]).toEqual(["deployment_id"]);
  });
});

describe("an example", () => {
  const IDENTIFIER = /^[1-9A-HJ-NP-Za-km-z]{22}$/;
  /** Fields with the same kind of record under another name. */
  const ALIASES: Record<string, string> = {
    member: "membership",
    member_session: "session",
    credential: "key",
    default_environment: "environment",
    superseded: "deployment",
    url_stack: "stack",
    wanted_deployment: "deployment",
    webhook: "event",
  };

  /** The IDs that the document shows, by the field that contains them. */
  function idsIn(value: unknown, key = ""): [string, string][] {
    if (typeof value === "string") return IDENTIFIER.test(value) ? [[key, value]] : [];
    if (typeof value !== "object" || value === null) return [];
    const { name, properties: own, example } = value as Node;
    const entries = Object.entries(own ?? value).filter(([each]) => each !== "name");
    return entries.flatMap(([each, nested]) => {
      const isPlain = ["example", "schema", "items", "0"].includes(each);
      return idsIn(nested, isPlain ? (typeof name === "string" && !example ? name : key) : each);
    });
  }

  const kindOf = (field: string) => {
    const name = field.replace(/[_-]ids?$/, "");
    return ALIASES[name] ?? name;
  };

  it("shows one ID for each kind of record, and no ID for two kinds", () => {
    const found = idsIn(openApi).filter(([field]) => /[_-]ids?$/.test(field));
    const pairs = new Set(found.map(([field, id]) => `${kindOf(field)} ${id}`));
    const kinds = [...pairs].map((pair) => pair.split(" ")[0]);
    const ids = [...pairs].map((pair) => pair.split(" ")[1]);
    expect(kinds.length).toBeGreaterThan(15);
    expect(kinds.toSorted()).toEqual([...new Set(kinds)].toSorted());
    expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
  });

  const camelCase = (type: string) =>
    type.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()) as ExampleKind;

  it("shows valid IDs of the table, or of a type, only", () => {
    const others = [...CHANGED_TYPES, ...TARGET_TYPES].map((type) => exampleId(camelCase(type)));
    const all = [...new Set([...Object.values<string>(EXAMPLE_IDS), ...others])];
    for (const id of all) expect(id).toMatch(IDENTIFIER);
    const shown = new Set(idsIn(openApi).map(([, id]) => id));
    expect([...shown].filter((id) => !all.includes(id) && !/[a-z]{8}/.test(id))).toEqual([]);
    for (const name of ["Project", "Environment", "Stack", "Component", "Deployment"] as const) {
      const { id } = components[name].properties;
      const kind = name.toLowerCase() as Lowercase<typeof name>;
      expect(id.example ?? components["Identifier"].example).toBe(EXAMPLE_IDS[kind]);
    }
  });
});

/** Without an ID, but `not_found` for a secret that is of no use. */
const WITH_ID_IN_BODY = ["/v1/runner/claims"];
const WITH_SECRET = ["/v1/bootstrap", "/v1/invitations/accept", "/v1/sign-in/callback"];

describe("the errors of an operation", () => {
  const statusesOf = ({ responses }: Operation) =>
    Object.keys(responses)
      .map(Number)
      .filter((status) => status >= 400);

  it.each(cases)("have valid examples: %s", (_, operation) => {
    for (const status of statusesOf(operation)) {
      const examples = errorExamples(operation, status);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        expect(mismatches({ $ref: "#/components/schemas/Error" }, example)).toEqual([]);
        expect(ERRORS[example["code"] as keyof typeof ERRORS].status).toBe(status);
      }
    }
  });

  it.each(cases)("are those that it can return: %s", (_, operation) => {
    const { method, path, security, requestBody } = operation;
    const statuses = statusesOf(operation);
    expect(statuses).toEqual(expect.arrayContaining([429, 500]));
    const isExchange = ["/v1/oidc/token", "/v1/sessions"].includes(path) && method === "POST";
    const needsToken = path === "/metrics";
    const isCallback = path === "/v1/sign-in/callback";
    expect(statuses.includes(401)).toBe(
      security.length > 0 || needsToken || isExchange || isCallback,
    );
    // A repeat after the project was deleted.
    const isCreation = operation.operationId === "createProject";
    const mayFindNothing =
      needsToken ||
      path.includes("{") ||
      [...WITH_SECRET, ...WITH_ID_IN_BODY].includes(path) ||
      isCreation;
    expect(statuses.includes(404)).toBe(mayFindNothing);
    if (requestBody) expect(statuses).toContain(400);
    const isRead = method === "GET" && !operation["x-writes"];
    if (isRead) expect(statuses).not.toContain(409);
    if (!isRead && security.some((each) => !("bootstrap_token" in each))) {
      expect(statuses).toContain(409);
    }
    expect(statuses.includes(501)).toBe(/slack|sign-in(\/callback)?$/.test(path));
  });

  it("are shared by operations with the same errors", () => {
    const inline = operations.flatMap((operation) =>
      statusesOf(operation).filter((status) => !operation.responses[status]?.["$ref"]),
    );
    expect(inline).toEqual([]);
    const texts = Object.values(openApi.components.responses).map((each) => JSON.stringify(each));
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe("an array", () => {
  it("says what it contains, in every schema", () => {
    const arrays = nodes.filter(({ node }) => [node["type"]].flat().includes("array"));
    expect(arrays.length).toBeGreaterThan(50);
    const open = arrays.filter(({ node }) => !("items" in node));
    expect(open.map(({ path }) => path.join("/"))).toEqual([]);
    for (const name of ["CreateIntegration", "UpdateIntegration"]) {
      expect(components[name].properties.stack_ids).toMatchObject({
        type: ["array", "null"],
        items: { type: "string" },
        maxItems: 50,
      });
    }
  });
});

describe("a pattern", () => {
  it("is valid in ECMAScript and in RE2", () => {
    const patterns = nodes.flatMap(({ node }) => node["pattern"] ?? []).map(String);
    expect(patterns.length).toBeGreaterThan(50);
    for (const pattern of new Set(patterns)) {
      expect(() => new RegExp(pattern, "u")).not.toThrow();
      expect(pattern).not.toMatch(/\(\?[=!<]|\\[1-9kuc]/);
      // The generator would write the flags of a literal behind the pattern.
      expect(pattern).not.toMatch(/\$\/[a-z]+$/);
    }
  });
});

describe("the document", () => {
  it("names a contact", () => {
    const { info } = openApi as unknown as { info: Parsed };
    expect(info.contact).toEqual({ name: "Longshore", url: expect.stringContaining("https://") });
  });

  it.each(publishedOperations.map((each) => [title(each), each] as const))(
    "describes %s",
    (_, { summary, description = "", tags }) => {
      expect(wordsOf(summary).length).toBeGreaterThan(1);
      expect(wordsOf(description).length).toBeGreaterThan(3);
      expect(tags).toHaveLength(1);
    },
  );

  it("has every operation except the pages for browsers, what those send, and what monitoring reads", () => {
    const pages = operations.filter((each) => !publishedOperations.includes(each));
    expect(pages.map(title).toSorted()).toEqual([
      "GET /invitations/{token}",
      "GET /metrics",
      "GET /sign-in",
      "GET /sign-in/{token}",
      "GET /v1/sign-in/callback",
      "GET /v1/sign-in/organizations",
      "GET /v1/slack/callback",
      "POST /invitations/{token}",
      "POST /sign-in/{token}",
      "POST /v1/sign-in/organizations/{org_id}",
      "POST /v1/sign-in/organizations/{org_id}/decline",
    ]);
    const types = [...JSON.stringify(published.paths).matchAll(/"(text\/html)"/g)];
    expect(types).toEqual([]);
    expect(published.components.schemas).toEqual(openApi.components.schemas);
  });

  it("contains its own path", () => {
    expect(operations.map(title)).toContain("GET /openapi.json");
  });
});
