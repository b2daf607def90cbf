/** Runs the Worker in Miniflare alone, with its assets, until it is killed. Arguments: a folder and a port. */
import { join } from "node:path";
import { applyMigrations } from "../../scripts/lib/migrations.ts";
import { bundle, start } from "../../scripts/lib/workers.ts";

const [folder = "", port = "0"] = process.argv.slice(2);
const { BOOTSTRAP_TOKEN = "" } = process.env;
const built = bundle("src/index.ts", join(folder, "bundle"));
const options = { folder: join(folder, "state"), port: Number(port), assets: true };
const { d1 } = await start(built, { BOOTSTRAP_TOKEN }, options);
await applyMigrations(d1);
