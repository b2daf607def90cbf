/** `npm run input:schema`: writes the JSON Schema of what the reference runner gives to its command. */
import { writeFileSync } from "node:fs";
import { INPUT_SCHEMA_FILES, renderInputSchema } from "./lib/input-schema.ts";

for (const file of INPUT_SCHEMA_FILES) writeFileSync(file, await renderInputSchema());
