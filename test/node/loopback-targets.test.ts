import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newEncryptionKey } from "../../scripts/lib/secrets.ts";
import {
  secretContext,
  urlContext,
} from "../../src/features/notifications/integrations/encryption-context.ts";
import { Cipher } from "../../src/lib/cipher.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LoopbackListener } from "./support/loopback-listener.ts";
import { type Parsed, type Service, startService } from "./support/service.ts";

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
const POLL_EVERY_MS = 50;
const ENDS_WITHIN_MS = 30_000;

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

  static async start(allowInsecure: "true" | "false"): Promise<Target> {
    const service = await startService({
      ENCRYPTION_KEYS: KEYRING,
      ALLOW_INSECURE_WEBHOOKS: allowInsecure,
    });
    const project = await service.owner.call("POST", "/v1/projects", { name: "storefront" });
    return new Target(service, project, await Cipher.of(KEYRING));
  }

  stop(): Promise<void> {
    return this.#service.stop();
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
    const deadline = performance.now() + ENDS_WITHIN_MS;
    const select = this.#service.d1
      .prepare("select status_code, error from delivery_attempts where delivery_id = ?")
      .bind(deliveryId);
    while (performance.now() < deadline) {
      const attempt = await select.first<Attempt>();
      if (attempt) return attempt;
      await sleep(POLL_EVERY_MS);
    }
    throw new Error("The delivery was not sent");
  }

  async #insertIntegration(url: string): Promise<string> {
    const { id: projectId, org_id: organizationId } = this.#project;
    const id = newId(systemClock);
    const sealedUrl = await this.#cipher.seal(url, urlContext(organizationId, id));
    const secret = await this.#cipher.seal(SECRET, secretContext(organizationId, id));
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

let listener: LoopbackListener;

beforeAll(async () => {
  listener = await LoopbackListener.start();
});

afterAll(() => listener.stop());

describe("a listener on loopback", () => {
  it("gets no connection from the deployed service, for any stored URL", async (context) => {
    const target = await Target.start("false");
    context.onTestFinished(() => target.stop());
    const before = listener.connections;
    const ids = await Promise.all(
      ORIGINS.map((origin) => target.ping(`${origin}:${listener.port}/hook`)),
    );
    for (const id of ids) {
      const refused = { status_code: null, error: "the URL is not allowed" };
      expect(await target.attempt(id)).toEqual(refused);
    }
    expect(listener.connections - before).toBe(0);
  });

  it("gets connections when insecure targets are allowed, but none through a redirect", async (context) => {
    const target = await Target.start("true");
    context.onTestFinished(() => target.stop());
    for (const origin of ORIGINS) {
      const before = listener.connections;
      await target.attempt(await target.ping(`${origin}:${listener.port}/hook`));
      expect(listener.connections - before, origin).toBeGreaterThan(0);
    }
    const before = listener.connections;
    const redirector = await LoopbackListener.start((request, response) => {
      const [, status = "", at = ""] = request.url?.split("/") ?? [];
      const location = `${ORIGINS[Number(at)]}:${listener.port}/hook`;
      response.writeHead(Number(status), { location }).end();
    });
    context.onTestFinished(() => redirector.stop());
    const paths = [301, 302, 303, 307, 308].flatMap((status) =>
      ORIGINS.map((_, at) => `/${status}/${at}`),
    );
    const ids = await Promise.all(
      paths.map((path) => target.ping(`http://127.0.0.1:${redirector.port}${path}`)),
    );
    for (const id of ids) expect(await target.attempt(id)).toMatchObject({ error: "redirected" });
    expect(redirector.paths.toSorted()).toEqual(paths.toSorted());
    expect(listener.connections - before).toBe(0);
  });
});
