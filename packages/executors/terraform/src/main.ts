import { runProgram } from "../../program/src/index.ts";
import { deploy, type TerraformSettings } from "./deploy.ts";

await runProgram<TerraformSettings>(deploy);
