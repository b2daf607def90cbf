import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import type { EnvironmentTabProps } from "../tabs.ts";
import { Variables } from "./variables.tsx";

export function VariablesTab({ environment, can }: EnvironmentTabProps) {
  return (
    <Variables
      scope={{ environment: environment.id }}
      can={can}
      projectId={environment.project_id}
      command={`${RUN_CLI} vars set LOG_LEVEL=info -e ${environment.id}`}
    />
  );
}
