import { sign } from "../src/features/notifications/delivery/signature.ts";

/** Sends a signed webhook; returns the response body. */
export async function sendSigned({
  url,
  id,
  body,
  secret,
}: {
  url: string;
  id: string;
  body: string;
  secret: string;
}): Promise<string> {
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": await sign({ id, timestamp, body }, [secret]),
  };
  const response = await fetch(url, { method: "POST", headers, body });
  return response.text();
}
