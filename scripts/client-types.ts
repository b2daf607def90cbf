/** `npm run client:types`: writes the types of packages/client, and the access rules of the console, from the OpenAPI document. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CLIENT_TYPES_FOLDER,
  CONSOLE_ACCESS_FILE,
  renderClientTypes,
  renderConsoleAccess,
} from "./lib/client-types.ts";

mkdirSync(CLIENT_TYPES_FOLDER, { recursive: true });
for (const [name, text] of Object.entries(await renderClientTypes())) {
  writeFileSync(join(CLIENT_TYPES_FOLDER, name), text);
}
writeFileSync(CONSOLE_ACCESS_FILE, renderConsoleAccess());
