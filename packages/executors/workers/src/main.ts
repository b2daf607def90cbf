import type { SettingValues } from "../../../runner/src/executors/setting.ts";
import { type ProgramContext, runProgram } from "../../program/src/index.ts";
import { deployWorker } from "./deploy-worker.ts";
import type { SETTINGS } from "./settings.ts";

await runProgram((context: ProgramContext<SettingValues<typeof SETTINGS>>) =>
  deployWorker(context),
);
