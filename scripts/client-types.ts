/** `npm run client:types`: writes what packages/client and packages/console take from the OpenAPI document. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CLIENT_TYPES_FOLDER,
  CONSOLE_TYPES_FOLDER,
  renderClientTypes,
  renderConsoleTypes,
} from "./lib/client-types.ts";

writeFiles(CLIENT_TYPES_FOLDER, await renderClientTypes());
writeFiles(CONSOLE_TYPES_FOLDER, await renderConsoleTypes());

function writeFiles(folder: string, files: Record<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}
