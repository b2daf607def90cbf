/** `npm run docs:script`: bundles the script of the reference. */
import { writeFileSync } from "node:fs";
import { REFERENCE_SCRIPT_FILE, renderReferenceScript } from "./lib/reference-script.ts";

writeFileSync(REFERENCE_SCRIPT_FILE, await renderReferenceScript());
