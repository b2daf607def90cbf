/** Six hours. */
export const DEFAULT_RUN_SECONDS = 21_600;

/** A change of a pool. Undefined: as it is. */
export type RunnerPoolChange = {
  [Name in keyof RunnerPoolInput]: RunnerPoolInput[Name] | undefined;
};

export interface RunnerPoolInput {
  name: string;
  environmentIds: readonly string[];
  maxRunSeconds: number;
}
