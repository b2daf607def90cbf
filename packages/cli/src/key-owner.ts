import type { Schemas } from "../../client/src/index.ts";

type KeyOwner = Schemas["KeyOwner"];

const TYPES: Record<KeyOwner["type"], string> = {
  person: "",
  service_account: " (service account)",
  ci: " (CI)",
};

/** Whose key it is, such as "deploy bot (service account)". */
export function describeOwner({ name, type }: KeyOwner): string {
  return `${name}${TYPES[type]}`;
}
