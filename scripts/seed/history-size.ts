import { CommandError } from "../lib/command.ts";

/** The number of rows to insert. */
export interface HistorySize {
  deployments: number;
  resources: number;
}

/** Command line options for `parseArgs`. */
export const HISTORY_SIZE_OPTIONS = {
  deployments: { type: "string", default: "100000" },
  resources: { type: "string", default: "1000000" },
} as const;

export function parseHistorySize(values: Record<keyof HistorySize, string>): HistorySize {
  return { deployments: parseCount(values.deployments), resources: parseCount(values.resources) };
}

function parseCount(text: string): number {
  if (/^\d{1,8}$/.test(text)) return Number(text);
  throw new CommandError(
    `Set --deployments and --resources to whole numbers; "${text}" is not one.`,
    2,
  );
}
