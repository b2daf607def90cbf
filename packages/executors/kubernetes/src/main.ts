import { runProgram } from "../../program/src/index.ts";
import { deploy } from "./deploy.ts";

await runProgram(deploy);
