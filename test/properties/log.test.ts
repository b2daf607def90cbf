import { DrizzleQueryError } from "drizzle-orm/errors";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeError } from "../../src/lib/log.ts";

const SECRET = "s3cr3t";

/** Lines with a secret; some look like stack frames. */
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

describe("the log entry of an error", () => {
  it("omits the message of a wrapping error, also from its stack", () => {
    fc.assert(
      fc.property(secretText, anyCause, (message, cause) => {
        expect(logged(new Error(message, { cause }))).not.toContain(SECRET);
      }),
    );
  });

  it("omits the parameters of a failed statement, for any cause", () => {
    fc.assert(
      fc.property(secretText, anyCause, (secret, cause) => {
        const error = new DrizzleQueryError("select ?", [secret], cause as Error);
        expect(logged(error)).not.toContain(SECRET);
        expect(logged(new Error("outer", { cause: error }))).not.toContain(SECRET);
      }),
    );
  });

  it("has the stack frames, and the message of the innermost cause", () => {
    const cause = new TypeError("D1_ERROR: no such column");
    const found = describeError(new DrizzleQueryError("select ?", [SECRET], cause));
    expect(found).toEqual({
      message: "D1_ERROR: no such column",
      error: "TypeError",
      stack: expect.arrayContaining([expect.stringMatching(/^at /)]),
    });
    expect(describeError("gone")).toEqual({ message: "gone" });
    expect(describeError(undefined)).toEqual({ message: "undefined" });
  });

  it("has D1's prefix, and the class of the error if it has a name", () => {
    const cause = new Error("no such table: projects: SQLITE_ERROR");
    const error = new Error(`D1_ERROR: ${cause.message}`, { cause });
    const found = describeError(new DrizzleQueryError("select ?", [SECRET], error));
    expect(found["message"]).toBe("D1_ERROR: no such table: projects: SQLITE_ERROR");
    expect(found).not.toHaveProperty("error");
    const named = describeError(new RangeError("gone"));
    expect(named).toMatchObject({ message: "gone", error: "RangeError" });
    const other = new Error(`${SECRET}: ${cause.message}`, { cause });
    expect(describeError(other)["message"]).toBe(cause.message);
  });

  it("omits parameters that D1 quotes", () => {
    const quoted = new Error(`D1_TYPE_ERROR: Type 'object' not supported for value '${SECRET}\n'`);
    const error = new DrizzleQueryError("select ?", [SECRET], quoted);
    expect(describeError(error)["message"]).toBe(
      "D1_TYPE_ERROR: Type 'object' not supported for value",
    );
  });

  it("terminates and omits all messages if the causes are circular", () => {
    const error = new Error(SECRET, { cause: undefined });
    error.cause = new Error(`outer ${SECRET}`, { cause: error });
    expect(logged(error)).not.toContain(SECRET);
    expect(describeError(error)["message"]).toBe("Too many causes.");
  });

  it("omits a message that was changed after the stack was captured", () => {
    const error = new Error(`${SECRET}\n    at ${SECRET}`, { cause: "gone" });
    // The runtime captures the stack when it is first read.
    expect(error.stack).toContain(SECRET);
    error.message = "replaced";
    expect(logged(error)).not.toContain(SECRET);
  });
});
