import { describeWalks } from "./walker.ts";

describeWalks(0);
