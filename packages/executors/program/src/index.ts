export { toLowerId } from "./names.ts";
export { parsePrinted, toPrinted } from "./printed-json.ts";
export { Report } from "./report.ts";
export { type ProgramContext, ProgramError, runProgram } from "./run-program.ts";
export { parseDuration, wait } from "./time.ts";
export { readTool, runTool, type ToolOptions, type ToolResult } from "./tool.ts";
