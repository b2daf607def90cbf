import { cloudFormation } from "../../../executors/cloudformation/src/index.ts";
import { compose } from "../../../executors/compose/src/index.ts";
import { kubernetes } from "../../../executors/kubernetes/src/index.ts";
import { script } from "../../../executors/script/src/index.ts";
import { terraform } from "../../../executors/terraform/src/index.ts";
import { workers } from "../../../executors/workers/src/index.ts";
import type { Executor } from "./executor.ts";

/** What `--executor` accepts. */
export const EXECUTORS: readonly Executor[] = [
  cloudFormation,
  compose,
  kubernetes,
  script,
  terraform,
  workers,
];
