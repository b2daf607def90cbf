import type { SettingValues } from "../../../runner/src/executors/setting.ts";
import type { ProgramContext, Report } from "../../program/src/index.ts";
import { ApplyProgress } from "./apply-progress.ts";
import { prepareFiles } from "./files.ts";
import { requireLastingState } from "./local-state.ts";
import type { SETTINGS } from "./settings.ts";
import { listResources, parseState, reportOutputs, type State } from "./state.ts";
import { Terraform } from "./terraform.ts";

export type TerraformSettings = SettingValues<typeof SETTINGS>;

const DEFAULT_LOCK_TIMEOUT = "10m";

/** Plans, and applies exactly that plan. */
export async function deploy({
  settings,
  variables,
  report,
  stop,
  folder: privateFolder,
}: ProgramContext<TerraformSettings>): Promise<void> {
  const { workspace, destroy = false, lock_timeout: lockTimeout = DEFAULT_LOCK_TIMEOUT } = settings;
  const files = prepareFiles(privateFolder, settings);
  const folder = settings.folder ?? process.cwd();
  const terraform = await Terraform.find({ folder, files, variables, lockTimeout, stop });
  await terraform.initialize(workspace);
  requireLastingState({ checkout: process.cwd(), folder, files, workspace });
  const progress = new ApplyProgress(report);
  if (await terraform.plan({ destroy })) {
    try {
      await terraform.apply(progress);
    } catch (error) {
      await reportAfterFailure(terraform, progress, report);
      throw error;
    }
  }
  const state = await readState(terraform);
  report.allResources(listResources(state, progress.changes));
  reportOutputs(state, report);
}

async function readState(terraform: Terraform): Promise<State> {
  return parseState(await terraform.show());
}

/** The reason of the failure matters more than a state that cannot be read. */
async function reportAfterFailure(
  terraform: Terraform,
  progress: ApplyProgress,
  report: Report,
): Promise<void> {
  try {
    progress.fail();
    report.allResources(listResources(await readState(terraform), progress.changes));
  } catch (error) {
    console.error(`The resources are not reported: ${error instanceof Error ? error.message : ""}`);
  }
}
