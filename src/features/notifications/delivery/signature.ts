const PREFIX = "whsec_";

/** What a signature is made over (Standard Webhooks 1.0, "Signature scheme"). */
export interface Signed {
  id: string;
  /** Whole seconds since the Unix epoch. */
  timestamp: number;
  body: string;
}

/**
 * The value of the header `webhook-signature`: one signature for each secret, in their order. A
 * receiver takes the message if it knows any of them, so that a secret can be rotated.
 */
export async function sign(message: Signed, secrets: readonly string[]): Promise<string> {
  const { id, timestamp, body } = message;
  const content = Uint8Array.from(new TextEncoder().encode(`${id}.${timestamp}.${body}`));
  const signatures = await Promise.all(secrets.map((secret) => signWith(secret, content)));
  return signatures.join(" ");
}

async function signWith(secret: string, content: Uint8Array<ArrayBuffer>): Promise<string> {
  const base64 = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, content));
  return `v1,${btoa(String.fromCharCode(...signature))}`;
}
