import type { FoundEnvironment } from "../../projects/environments/index.ts";
import { type Document, patchBetween } from "../deployments/index.ts";
import type { ComparedVariable, VariableDifferences } from "./model.ts";

export interface Comparison {
  environment: FoundEnvironment;
  other: FoundEnvironment;
  /** Undefined: the key may not read them. */
  variables: VariableDifferences | undefined;
}

export function presentComparison({ environment, other, variables }: Comparison) {
  const documentOf = (row: FoundEnvironment) => JSON.parse(row.configuration) as Document;
  return {
    environment: presentEnvironment(environment),
    with: presentEnvironment(other),
    same_source: environment.source === other.source,
    configuration: patchBetween(documentOf(environment), documentOf(other)),
    variables: variables && presentDifferences(variables),
  };
}

function presentEnvironment({ id, name, source }: FoundEnvironment) {
  return { id, name, source: source === null ? undefined : (JSON.parse(source) as object) };
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
