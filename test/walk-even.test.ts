import { describeWalks } from "./support/walker.ts";

describeWalks(0);
