/** The environments of a project in their order, with their stacks. */
export interface EnvironmentChoice {
  id: string;
  name: string;
  stacks: readonly { id: string; name: string }[];
}

/** The filters of an integration. Null or absent: all. */
export interface Filters {
  environment_ids?: readonly string[] | null | undefined;
  stack_ids?: readonly string[] | null | undefined;
}

/** The chosen stacks by the ID of their environment. None: all of its stacks, also future ones. */
export type Chosen = ReadonlyMap<string, readonly string[]>;

/** Undefined: all environments. */
export function toChosen(
  { environment_ids, stack_ids }: Filters,
  environments: readonly EnvironmentChoice[],
): Chosen | undefined {
  if (!environment_ids && !stack_ids) return undefined;
  const chosen = new Map<string, readonly string[]>();
  for (const { id, stacks } of environments) {
    const listed = stacks.map((stack) => stack.id).filter((each) => stack_ids?.includes(each));
    // An event has to pass both filters.
    if (environment_ids && !environment_ids.includes(id)) continue;
    if (stack_ids && listed.length === 0) continue;
    chosen.set(id, listed.length === stacks.length ? [] : listed);
  }
  return chosen;
}

/** Without a chosen environment, all. */
export function toFilters(
  chosen: Chosen | undefined,
  environments: readonly EnvironmentChoice[],
): { environment_ids: string[] | null; stack_ids: string[] | null } {
  const kept = environments.filter(({ id }) => chosen?.has(id));
  if (kept.length === 0) return { environment_ids: null, stack_ids: null };
  const stacksOf = ({ id, stacks }: EnvironmentChoice) => {
    const listed = chosen?.get(id) ?? [];
    return listed.length > 0 ? listed : stacks.map((stack) => stack.id);
  };
  const hasStacks = kept.some(({ id }) => chosen?.get(id)?.length);
  return {
    environment_ids: kept.map(({ id }) => id),
    stack_ids: hasStacks ? kept.flatMap(stacksOf) : null,
  };
}
