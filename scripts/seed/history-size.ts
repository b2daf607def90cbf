import { Failure } from "../lib/command.ts";

/** How much history there is to be. */
export interface Amounts {
  deployments: number;
  resources: number;
}

/** What a command line says of it, for `parseArgs`. */
export const AMOUNT_OPTIONS = {
  deployments: { type: "string", default: "100000" },
  resources: { type: "string", default: "1000000" },
} as const;

export function toAmounts(values: Record<keyof Amounts, string>): Amounts {
  return { deployments: toAmount(values.deployments), resources: toAmount(values.resources) };
}

function toAmount(text: string): number {
  if (/^\d{1,8}$/.test(text)) return Number(text);
  throw new Failure(`An amount is a whole number, not "${text}".`, 2);
}
