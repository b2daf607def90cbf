import type { NamedResource } from "./api-types.ts";
import type { Variable } from "./environment.ts";
import type { StackFolder } from "./stack-folder.ts";
import type { StackInput } from "./stack-input.ts";

type Files = Pick<StackFolder, "inputPath" | "configurationPath" | "reportPath">;

/** What the runner tells the command. docs/executors.md has the same list. */
export function stackEnvironment(input: StackInput, patchPath: string, files: Files): Variable[] {
  const { deployment, project, environment, stack } = input;
  const values = {
    LONGSHORE_DEPLOYMENT: deployment.id,
    LONGSHORE_STACK: stack.id,
    LONGSHORE_SOURCE: JSON.stringify(deployment.source ?? {}),
    LONGSHORE_PATCH_FILE: patchPath,
    LONGSHORE_INPUT_FILE: files.inputPath,
    LONGSHORE_CONFIGURATION_FILE: files.configurationPath,
    LONGSHORE_REPORT_FILE: files.reportPath,
    ...describe("STACK", stack),
    ...describe("COMPONENT", stack.component),
    ...describe("ENVIRONMENT", environment),
    ...describe("PROJECT", project),
    LONGSHORE_IMAGE: toLine(deployment.source?.registry?.image),
    LONGSHORE_COMMIT: toLine(deployment.source?.git?.commit?.sha),
  };
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  );
}

function describe(kind: string, resource: NamedResource | undefined) {
  return {
    [`LONGSHORE_${kind}_ID`]: resource?.id,
    [`LONGSHORE_${kind}_NAME`]: toLine(resource?.name),
  };
}

/** The API accepts no control characters here. With a null character, no command would start. */
export function toLine(text: string | undefined): string | undefined {
  return text?.replaceAll(/\p{Cc}/gu, " ");
}
