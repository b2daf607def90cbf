/** `npm run openapi [-- FILE]`: prints the OpenAPI document, or writes it to FILE. */
import { writeFileSync } from "node:fs";
import { readDocument } from "./lib/document.ts";

const json = `${JSON.stringify(await readDocument(), null, 2)}\n`;
const [file] = process.argv.slice(2);
if (file) writeFileSync(file, json);
else process.stdout.write(json);
