import { describeWalks } from "./random-walk.ts";

describeWalks();
