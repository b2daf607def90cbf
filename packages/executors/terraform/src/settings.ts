import { DURATION } from "../../../runner/src/executors/duration.ts";
import type { Members, Settings, TextForm } from "../../../runner/src/executors/setting.ts";

const WORKSPACE = {
  pattern: /^[A-Za-z0-9][\w.-]{0,89}$/,
  description: "1 to 90 letters, digits, _, . and -, and begin with a letter or a digit",
} satisfies TextForm;

/** A part of a host, in the requests of some backends. */
const STORE = {
  pattern: /^[A-Za-z0-9][\w.()-]{0,254}$/,
  description: "letters, digits, _, ., -, ( and ), and begin with a letter or a digit",
} satisfies TextForm;
const REGION = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/,
  description: "a region, such as eu-central-1",
} satisfies TextForm;

/**
 * Where in a store of its provider the state is. Others choose whom the backend sends the state and its credentials to
 * (`endpoints`, `address`), whose credentials it takes (`profile`), what it runs (`exec`), or who may read (`acl`).
 */
const BACKENDS = {
  s3: {
    ...{ bucket: STORE, key: undefined, region: REGION, workspace_key_prefix: undefined },
    ...{ encrypt: undefined, kms_key_id: undefined },
    ...{ use_lockfile: undefined, dynamodb_table: undefined },
  },
  gcs: { bucket: STORE, prefix: undefined },
  azurerm: {
    ...{ resource_group_name: STORE, storage_account_name: STORE },
    ...{ container_name: STORE, key: undefined },
  },
  pg: { schema_name: STORE },
  kubernetes: { secret_suffix: STORE },
} as const satisfies Record<string, Members["forms"]>;

/** Whichever the module uses: none of them has another meaning for another backend. */
const BACKEND_MEMBERS: Members = {
  forms: {
    ...{ ...BACKENDS.s3, ...BACKENDS.gcs, ...BACKENDS.azurerm },
    ...{ ...BACKENDS.pg, ...BACKENDS.kubernetes },
  },
  option: "--backend-allow",
  elsewhere: "the module",
};

/** What docs/deploy-with/terraform.md lists. */
export const SETTINGS = {
  folder: { type: "folder" },
  variables: { type: "values" },
  backend: { type: "values", members: BACKEND_MEMBERS },
  workspace: { type: "text", form: WORKSPACE },
  lock_timeout: { type: "text", form: DURATION },
  destroy: { type: "boolean" },
} as const satisfies Settings;
