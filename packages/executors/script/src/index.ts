import { accessSync, constants } from "node:fs";
import { defineExecutor } from "../../../runner/src/executors/executor.ts";
import { TextError } from "../../../runner/src/executors/interpolation.ts";
import { SETTINGS } from "./settings.ts";

/** Runs a file of the checkout, in the checkout. See docs/deploy-with/script.md. */
export const script = defineExecutor({
  name: "script",
  settings: SETTINGS,
  variables: "environment",
  createProgram: ({ path = "", arguments: args = [] }, { folder }) => {
    requireExecutable(path);
    return { file: path, args, folder };
  },
});

function requireExecutable(file: string): void {
  try {
    accessSync(file, constants.X_OK);
  } catch {
    throw new TextError(
      "The file of the setting path cannot be executed. Commit it with git add --chmod=+x, and start the " +
        "runner with a $TMPDIR from which programs may run.",
    );
  }
}
