import type { EnvironmentTabProps } from "../tabs.ts";
import { Variables } from "./variables.tsx";

export function VariablesTab({ environment, can }: EnvironmentTabProps) {
  return (
    <Variables
      scope={{ environment: environment.id }}
      can={can}
      command={`npx @longshore/cli vars set LOG_LEVEL=info -e ${environment.id}`}
    />
  );
}
