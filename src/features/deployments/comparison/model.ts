import type { StorageMethod } from "../../projects/variables/model.ts";

export interface ComparedVariable {
  name: string;
  /** The name of its component. Null: it belongs to the environment. */
  component: string | null;
  storageMethod: StorageMethod;
}

export interface VariableDifferences {
  missing: ComparedVariable[];
  extra: ComparedVariable[];
  storedDifferently: { own: ComparedVariable; other: ComparedVariable }[];
}
