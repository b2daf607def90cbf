/** `npm run docs:guides`: writes the guides of the reference from docs/. */
import { writeFileSync } from "node:fs";
import { GUIDES_FILE, renderGuides } from "./lib/guides.ts";

writeFileSync(GUIDES_FILE, renderGuides());
