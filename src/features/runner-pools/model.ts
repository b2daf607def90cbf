/** Six hours. */
export const DEFAULT_RUN_SECONDS = 21_600;

export interface RunnerPoolInput {
  name: string;
  environmentIds: readonly string[];
  maxRunSeconds: number;
}
