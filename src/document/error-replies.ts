import { type ApiError, ERRORS } from "../lib/errors.ts";
import { CODES, ErrorBody } from "./error-body.ts";

/** @param errors Named examples, all with the same status. */
export function errorReply(errors: Readonly<Record<string, ApiError>>) {
  const codes = CODES.filter((code) => Object.values(errors).some((error) => error.code === code));
  const examples = Object.entries(errors).map(([name, { code, message, cause }]) => {
    return [name, { value: { code, message, ...(cause !== undefined && { cause }) } }] as const;
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join(" "),
    content: {
      "application/json": { schema: ErrorBody, examples: Object.fromEntries(examples) },
    },
  };
}
