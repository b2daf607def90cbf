/** How long a run of a pool may take unless its pool says otherwise: six hours. */
export const DEFAULT_RUN_SECONDS = 21_600;

export interface RunnerPoolInput {
  name: string;
  environmentIds: readonly string[];
  maxRunSeconds: number;
}
