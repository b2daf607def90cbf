import type { DurableObject } from "cloudflare:workers";

export declare class Database extends DurableObject {
  query(body: string, isRaw: boolean): Promise<{ text: string; bookmark?: string }>;
}
