const PREFIX = "whsec_";
const encoder = new TextEncoder();

/** Standard Webhooks 1.0, "Signature scheme". */
export interface SignedContent {
  id: string;
  /** Whole seconds since the Unix epoch. */
  timestamp: number;
  body: string;
}

/**
 * The value of `webhook-signature`. A receiver accepts the message if any signature matches, so
 * that a secret can be rotated.
 */
export async function sign(content: SignedContent, secrets: readonly string[]): Promise<string> {
  const { id, timestamp, body } = content;
  const bytes = Uint8Array.from(encoder.encode(`${id}.${timestamp}.${body}`));
  const signatures = await Promise.all(secrets.map((secret) => signWith(secret, bytes)));
  return signatures.join(" ");
}

async function signWith(secret: string, content: Uint8Array<ArrayBuffer>): Promise<string> {
  const base64 = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const keyBytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", keyBytes, algorithm, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, content));
  return `v1,${btoa(String.fromCharCode(...signature))}`;
}
