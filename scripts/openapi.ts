/** Prints the OpenAPI document, or writes it to the file that is named. */
import { writeFileSync } from "node:fs";
import { createApp } from "../src/app.ts";

const json = `${JSON.stringify(createApp().describe(), null, 2)}\n`;
const [file] = process.argv.slice(2);
if (file) writeFileSync(file, json);
else process.stdout.write(json);
