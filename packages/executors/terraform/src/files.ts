import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Values never become options, which other users of the machine see. */
export interface Files {
  /** The setting `variables`. */
  variables: string;
  /** The setting `backend`. Undefined: the module says all of it. */
  backend: string | undefined;
  plan: string;
  /** `TF_DATA_DIR`: plugins, modules, and which backend is used. */
  data: string;
}

interface Values {
  variables?: object;
  backend?: object;
}

/** In a folder that the runner removes. */
export function prepareFiles(folder: string, { variables = {}, backend }: Values): Files {
  const write = (name: string, content: object): string => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
    return path;
  };
  return {
    variables: write("variables.tfvars.json", variables),
    backend: backend && write("backend.tfbackend.json", backend),
    plan: join(folder, "plan"),
    data: join(folder, "data"),
  };
}
