/** `npm run limits`: writes docs/limits.md from src/lib/limits.ts. */
import { writeFileSync } from "node:fs";
import { LIMITS_FILE, renderLimits } from "./lib/limits-table.ts";

writeFileSync(LIMITS_FILE, renderLimits());
