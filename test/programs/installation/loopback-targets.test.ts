import { describe, expect, it, type TestContext, vi } from "vitest";
import { newEncryptionKey } from "../../../packages/server/src/secrets.ts";
import {
  secretContext,
  urlContext,
} from "../../../src/features/notifications/integrations/secret.ts";
import { Cipher } from "../../../src/lib/cipher.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LoopbackListener } from "../support/loopback-listener.ts";
import { type Parsed, type Service, startService } from "../support/service.ts";

const KEYRING = newEncryptionKey();
const SECRET = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
const ORIGINS = [
  "http://127.0.0.1",
  "https://127.0.0.1",
  "https://127.1",
  "https://2130706433",
  "https://0x7f000001",
  "https://127.0.0.1.",
  "http://localhost",
  "https://localhost",
  "https://LOCALHOST",
  "http://[::1]",
  "https://[::1]",
  "https://[::ffff:127.0.0.1]",
];
const POLLING = { interval: 250, timeout: 300_000 };

interface Attempt {
  status_code: number | null;
  error: string | null;
}

/** A service whose integrations have URLs that the API would refuse. */
class Target {
  readonly #service: Service;
  readonly #project: Parsed;
  readonly #cipher: Cipher;

  private constructor(service: Service, project: Parsed, cipher: Cipher) {
    this.#service = service;
    this.#project = project;
    this.#cipher = cipher;
  }

  /** Stops when the test finishes. */
  static async start(context: TestContext, allowInsecure: "true" | "false"): Promise<Target> {
    const service = await startService({
      ENCRYPTION_KEYS: KEYRING,
      ALLOW_INSECURE_WEBHOOKS: allowInsecure,
    });
    context.onTestFinished(() => service.stop());
    const project = await service.owner.call("POST", "/v1/projects", { name: "storefront" });
    return new Target(service, project, await Cipher.of(KEYRING));
  }

  /** Pings a new integration with this URL; returns the delivery's ID. */
  async ping(url: string): Promise<string> {
    const integrationId = await this.#insertIntegration(url);
    const path = `/v1/projects/${this.#project.id}/notification-integrations/${integrationId}`;
    const { id } = await this.#service.owner.call("POST", `${path}/ping`);
    return id;
  }

  /** Waits for the first attempt of a delivery. */
  async attempt(deliveryId: string): Promise<Attempt> {
    const select = this.#service.d1
      .prepare("select status_code, error from delivery_attempts where delivery_id = ?")
      .bind(deliveryId);
    return vi.waitUntil(() => select.first<Attempt>(), POLLING);
  }

  async #insertIntegration(url: string): Promise<string> {
    const { id: projectId, org_id: organizationId } = this.#project;
    const id = newId(systemClock);
    const reference = { id, organizationId, projectId };
    const sealedUrl = await this.#cipher.seal(url, urlContext(reference));
    const secret = await this.#cipher.seal(SECRET, secretContext(reference));
    await this.#service.d1
      .prepare(
        `insert into integrations (id, organization_id, project_id, type, configuration, url,
          shown_url, secret, created_at, updated_at) values (?, ?, ?, 'webhook', '{}', ?, '', ?, 1, 1)`,
      )
      .bind(id, organizationId, projectId, sealedUrl, secret)
      .run();
    return id;
  }
}

/** Stops when the test finishes. */
async function listen(
  context: TestContext,
  ...[answer]: Parameters<typeof LoopbackListener.start>
): Promise<LoopbackListener> {
  const listener = await LoopbackListener.start(answer);
  context.onTestFinished(() => listener.stop());
  return listener;
}

describe("a listener on loopback", () => {
  it("gets no connection from the deployed service, for any stored URL", async (context) => {
    const listener = await listen(context);
    const target = await Target.start(context, "false");
    const ids = await Promise.all(
      ORIGINS.map((origin) => target.ping(`${origin}:${listener.port}/hook`)),
    );
    for (const id of ids) {
      const refused = { status_code: null, error: "the URL is not allowed" };
      expect(await target.attempt(id)).toEqual(refused);
    }
    expect(listener.connections).toBe(0);
  });

  it("gets connections when insecure targets are allowed", async (context) => {
    const listener = await listen(context);
    const target = await Target.start(context, "true");
    for (const origin of ORIGINS) {
      const before = listener.connections;
      await target.attempt(await target.ping(`${origin}:${listener.port}/hook`));
      expect(listener.connections - before, origin).toBeGreaterThan(0);
    }
  });

  it("gets no connection through a redirect", async (context) => {
    const listener = await listen(context);
    const target = await Target.start(context, "true");
    const redirector = await listen(context, (request, response) => {
      const [, status = "", at = ""] = request.url?.split("/") ?? [];
      const location = `${ORIGINS[Number(at)]}:${listener.port}/hook`;
      response.writeHead(Number(status), { location }).end();
    });
    const paths = [301, 302, 303, 307, 308].flatMap((status) =>
      ORIGINS.map((_, at) => `/${status}/${at}`),
    );
    const ids = await Promise.all(
      paths.map((path) => target.ping(`http://127.0.0.1:${redirector.port}${path}`)),
    );
    for (const id of ids) expect(await target.attempt(id)).toMatchObject({ error: "redirected" });
    // A slow test also gets retries.
    expect([...new Set(redirector.paths)].toSorted()).toEqual(paths.toSorted());
    expect(listener.connections).toBe(0);
  });
});
