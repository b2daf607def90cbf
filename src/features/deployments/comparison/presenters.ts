import type { FoundEnvironment } from "../../projects/environments/index.ts";
import { type Document, patchBetween } from "../deployments/index.ts";
import type { ComparedVariable, VariableDifferences } from "./model.ts";

export interface Comparison {
  environment: FoundEnvironment;
  other: FoundEnvironment;
  /** Whether the key may read them. */
  hasSources: boolean;
  /** Undefined: the key may not read them. */
  variables: VariableDifferences | undefined;
}

export function presentComparison({ environment, other, hasSources, variables }: Comparison) {
  const documentOf = (row: FoundEnvironment) => JSON.parse(row.configuration) as Document;
  return {
    environment: presentEnvironment(environment, hasSources),
    with: presentEnvironment(other, hasSources),
    same_source: hasSources ? environment.source === other.source : undefined,
    configuration: patchBetween(documentOf(environment), documentOf(other)),
    variables: variables && presentDifferences(variables),
  };
}

function presentEnvironment({ id, name, source }: FoundEnvironment, hasSource: boolean) {
  const isShown = hasSource && source !== null;
  return { id, name, source: isShown ? (JSON.parse(source) as object) : undefined };
}

function presentDifferences({ missing, extra, storedDifferently }: VariableDifferences) {
  return {
    missing: missing.map(presentVariable),
    extra: extra.map(presentVariable),
    stored_differently: storedDifferently.map(({ own, other }) => ({
      ...presentVariable(own),
      storage_method: own.storageMethod,
      with_storage_method: other.storageMethod,
    })),
  };
}

function presentVariable({ name, component }: ComparedVariable) {
  return { name, component: component ?? undefined };
}
