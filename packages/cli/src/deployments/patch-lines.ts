import type { Schemas } from "../../../client/src/index.ts";
import { toPlainText } from "../plain-text.ts";

type Operation = Schemas["PatchOperation"];

export interface PatchLine {
  sign: "-" | "+" | " ";
  /** Without control characters. */
  text: string;
}

/** What a patch removes and adds. The service has recorded the old values, unless they are too large. */
export function toPatchLines(patch: readonly Operation[]): PatchLine[] {
  return patch.flatMap(linesOf);
}

function linesOf(operation: Operation): PatchLine[] {
  const { op, path, from, value } = operation;
  const old = "old_value" in operation ? [line("-", path, operation.old_value)] : [];
  if (op === "add" || op === "replace") return [...old, line("+", path, value)];
  if (op === "remove") return old.length > 0 ? old : [line("-", path)];
  if (op === "test") return [line(" ", `${path} must be`, value)];
  const verb = op === "move" ? "moved" : "copied";
  return [...old, line("+", `${path} (${verb} from ${from})`)];
}

function line(sign: PatchLine["sign"], path: string, value?: unknown): PatchLine {
  const shown = value === undefined ? "" : ` ${JSON.stringify(value)}`;
  return { sign, text: toPlainText(`${path}${shown}`) };
}
