import { describeLeaks } from "./leaks.ts";

describeLeaks(1);
