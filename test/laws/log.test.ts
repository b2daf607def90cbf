import { DrizzleQueryError } from "drizzle-orm/errors";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeError } from "../../src/lib/log.ts";

const SECRET = "s3cr3t";

/** Lines with a secret, some of which look like the frames of a stack. */
const secretText = fc
  .array(
    fc.oneof(
      fc.constant(`    at reveal (${SECRET}.ts:1:2)`),
      fc.constant(`at ${SECRET}`),
      fc.constant(`Error: ${SECRET}`),
      fc.string().map((text) => `${text}${SECRET}`),
    ),
    { minLength: 1, maxLength: 20 },
  )
  .map((lines) => lines.join("\n"));

const noError = fc.constantFrom<unknown>(undefined, null, "gone", 7, { code: 1 }, ["x"]);
const anyCause = fc.oneof(
  noError,
  fc.constant(new Error("D1_ERROR: no such column")),
  fc.constant(new TypeError("gone", { cause: "why" })),
);

const logged = (error: unknown) => JSON.stringify(describeError(error));

describe("what a log holds of an error", () => {
  it("is nothing of the message of one that wraps something, nor through its stack", () => {
    fc.assert(
      fc.property(secretText, anyCause, (message, cause) => {
        expect(logged(new Error(message, { cause }))).not.toContain(SECRET);
      }),
    );
  });

  it("is nothing of a statement's parameters, whatever made it fail", () => {
    fc.assert(
      fc.property(secretText, anyCause, (secret, cause) => {
        const error = new DrizzleQueryError("select ?", [secret], cause as Error);
        expect(logged(error)).not.toContain(SECRET);
        expect(logged(new Error("outer", { cause: error }))).not.toContain(SECRET);
      }),
    );
  });

  it("is where it was thrown, and what lies beneath", () => {
    const cause = new TypeError("D1_ERROR: no such column");
    const found = describeError(new DrizzleQueryError("select ?", [SECRET], cause));
    expect(found["stack"]).toEqual(expect.arrayContaining([expect.stringMatching(/^at /)]));
    expect(found["cause"]).toMatchObject({ error: "TypeError", message: cause.message });
    expect(describeError("gone")).toEqual({ message: "gone" });
    expect(describeError(new Error("gone"))).toMatchObject({ error: "Error", message: "gone" });
  });
});
