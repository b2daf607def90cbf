import { runProgram } from "../../program/src/index.ts";
import { deploy } from "./deploy.ts";

// The warning is about later versions of the SDK: this file contains the one that it runs with.
process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true";

await runProgram(deploy);
