import { z } from "@hono/zod-openapi";
import { documentProblem } from "../../../lib/json-document.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import { LINE } from "../../../lib/text-patterns.ts";
import { Environment } from "../../projects/environments/schemas.ts";
import { OPERATIONS } from "./patch.ts";

export const TOO_LARGE = `exceeds ${sizeOf(LIMITS.patchBytes.value)}`;

export const OperationName = z
  .enum(OPERATIONS)
  .openapi("PatchOperationName", { description: "The operation, as RFC 6902 defines it." });

export const PATH = "The place to change, as a JSON Pointer (RFC 6901).";

export const FROM =
  "The place to move or copy from, as a JSON Pointer. Only for `move` and `copy`.";

export const VALUE =
  "The value to add, replace with or compare. Only for `add`, `replace` and `test`.";

const PointerInput = z
  .string()
  .max(LIMITS.pointerLength.value, `Send at most ${LIMITS.pointerLength.value} characters.`)
  .refine((path) => path.isWellFormed(), "Send a path without lone surrogates.")
  .refine((path) => LINE.test(path), "Send a path without control characters.")
  .openapi({ pattern: LINE.source });

const REQUIRED_MEMBER = {
  add: "value",
  replace: "value",
  test: "value",
  move: "from",
  copy: "from",
  remove: undefined,
} as const satisfies Record<(typeof OPERATIONS)[number], "value" | "from" | undefined>;

export const PatchOperationInput = z
  .strictObject({
    op: OperationName,
    path: PointerInput.openapi({ description: PATH, example: "/replicas" }),
    from: PointerInput.optional().openapi({ description: FROM }),
    value: z.unknown().optional().openapi({ description: VALUE }),
  })
  .superRefine(({ value }, ctx) => {
    const problem = documentProblem(value);
    if (!problem) return;
    const { path, message } = problem;
    ctx.addIssue({ code: "custom", path: ["value", ...path], message });
  })
  .superRefine((operation, ctx) => {
    const member = REQUIRED_MEMBER[operation.op];
    if (member === undefined || operation[member] !== undefined) return;
    const message = `Send ${member}: ${operation.op} needs it.`;
    ctx.addIssue({ code: "custom", path: [member], message });
  })
  .openapi("PatchOperationInput", {
    description: "One operation of a JSON Patch (RFC 6902).",
    example: { op: "replace", path: "/replicas", value: 3 },
  });

export const PatchOperation = z
  .object({
    op: OperationName,
    path: z.string().openapi({ description: PATH, example: "/replicas" }),
    from: z.string().optional().openapi({ description: FROM }),
    value: z.unknown().optional().openapi({ description: VALUE }),
    old_value: z
      .unknown()
      .optional()
      .openapi({
        description: `The previous value at \`path\`. Absent if the patch with all old values ${TOO_LARGE}.`,
      }),
  })
  .openapi("PatchOperation", {
    description: "One operation of a JSON Patch, with the value that it replaces.",
    example: { op: "replace", path: "/replicas", value: 3, old_value: 2 },
  });

export const secondsOf = (description: string) =>
  z
    .int()
    .min(0)
    .openapi({ description: `${description} In seconds.`, example: 42 });

export const ConfigurationChange = z
  .object({
    before: Environment.shape.configuration.optional(),
    after: Environment.shape.configuration.optional(),
    diff: z
      .array(PatchOperation)
      .optional()
      .openapi({
        description:
          "What turns `before` into `after`: one operation for each value that differs, `add`, " +
          "`remove` or `replace`.",
      }),
    digest: z
      .string()
      .optional()
      .openapi({
        description:
          "What an approval of this content names. Present while the deployment is queued and rules of the environment apply; " +
          "`before` is then the environment's present configuration.",
        example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      }),
  })
  .openapi("ConfigurationChange", {
    description:
      "A deployment's configuration. `before` is the environment's configuration that the deployment " +
      "is based on, and `after` what it becomes if the deployment succeeds. All are absent if they " +
      "are no longer stored; `before` and `diff` also if the deployment has no `old_value`s.",
    example: {
      before: { replicas: 2 },
      after: { replicas: 3 },
      diff: [{ op: "replace", path: "/replicas", value: 3, old_value: 2 }],
    },
  });
