import { describe, expect, it } from "vitest";
import type { Parsed } from "../support/client.ts";
import { errorExamples, mismatches, operations } from "../support/contract.ts";

describe("an error message in an example", () => {
  const sources: Record<string, string> = import.meta.glob(
    ["../../src/**/*.ts", "!../../src/**/*routes.ts", "!../../src/http/operation-errors.ts"],
    { query: "?raw", import: "default", eager: true },
  );
  const SHORTEST = 10;

  /** The texts of the source, joined where they are split, as patterns for their placeholders. */
  const literals = Object.values(sources).flatMap((source) => {
    const joined = source.replaceAll(/["`]\s*\+\s*["`]/g, "");
    return [...joined.matchAll(/["`]((?:[^"`\\\n]|\\.)*)["`]/g)].map(([, text = ""]) =>
      text.replaceAll(/\\(.)/g, "$1"),
    );
  });
  const patterns = literals
    .filter((text) => text.replaceAll(/\$\{[^}]*\}/g, "").length >= SHORTEST)
    .map((text) => {
      const parts = text.split(/\$\{[^}]*\}/).map((part) => part.replaceAll(/[^\w\s]/g, "\\$&"));
      return new RegExp(`^${parts.join(".+")}$`);
    });

  const isInSource = (message: string) =>
    patterns.some((pattern) => pattern.test(message)) ||
    literals.some((text) => text.length > 2 * SHORTEST && message.endsWith(text));

  const examples = operations.flatMap((operation) =>
    Object.keys(operation.responses).flatMap((status) => errorExamples(operation, Number(status))),
  ) as Parsed[];

  it("is a message of the code", () => {
    const messages = examples.flatMap(
      ({ message, cause }) =>
        cause?.issues?.map(({ message: each }: { message: string }) => each) ?? [message],
    );
    expect(messages.length).toBeGreaterThan(400);
    const foreign = [...new Set(messages)].filter((message) => !isInSource(message));
    expect(foreign).toEqual([]);
  });

  it("names records as the code names them", () => {
    const nouns = examples.flatMap(({ message }) => /^There is no such (.+)\.$/.exec(message)?.[1]);
    const named = [...new Set(nouns)].filter((noun) => noun !== undefined);
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((noun) => !literals.includes(noun))).toEqual([]);
  });
});

describe("the cause of an error", () => {
  const problems = (cause: unknown) =>
    mismatches(
      { $ref: "#/components/schemas/Error" },
      { code: "bad_input", message: "Invalid.", cause },
    );

  it.each([
    [{ issues: [{ path: "name", message: "Send a text." }] }],
    [{ request_id: crypto.randomUUID() }],
    [
      {
        request_id: crypto.randomUUID(),
        missing_secrets: ["LEASE_SECRET"],
        refused_settings: [{ name: "LEASE_SECRET", message: "It is not set." }],
        missing_tables: ["projects"],
        database: "ok",
      },
    ],
    [{ reason: "patch_conflict" }],
  ])("has a documented form: %j", (cause) => {
    expect(problems(cause)).toEqual([]);
  });

  it.each([
    [{}],
    [{ detail: "unknown" }],
    ["text"],
    [{ issues: [{ path: "name" }] }],
    [{ issues: [], hint: "unknown" }],
    [{ reason: "other" }],
    [{ request_id: crypto.randomUUID(), database: "ok" }],
  ])("has no other form: %j", (cause) => {
    expect(problems(cause)).not.toEqual([]);
  });
});
