import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type IncomingMessage, type OutgoingHttpHeaders, request as sendPlain } from "node:http";
import { createServer, type Server, request as sendRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export interface Certificate {
  key: string;
  cert: string;
  /** The self-signed certificate, for `NODE_EXTRA_CA_CERTS`. */
  file: string;
}

/** A certificate for names that nobody else has. */
export function makeCertificate(folder: string, names: readonly string[]): Certificate {
  const [key, file] = [join(folder, "tls.key"), join(folder, "tls.crt")];
  const alternatives = names.map((name) => `DNS:${name}`).join(",");
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const subject = ["-subj", "/CN=longshore", "-addext", `subjectAltName=${alternatives}`];
  execFileSync("openssl", [...args, "-keyout", key, "-out", file, "-days", "2", ...subject], {
    stdio: "ignore",
  });
  return { key: readFileSync(key, "utf8"), cert: readFileSync(file, "utf8"), file };
}

/** What Caddy and nginx do: ends TLS, and adds the address of its client to `X-Forwarded-For`. */
export class TlsProxy {
  readonly #server: Server;
  readonly #cert: string;

  private constructor(server: Server, cert: string) {
    this.#server = server;
    this.#cert = cert;
  }

  /** @param targetPort Asked for each request, so that the target may start later. */
  static async start({ key, cert }: Certificate, targetPort: () => number): Promise<TlsProxy> {
    const server = createServer({ key, cert }, (incoming, response) => {
      const before = incoming.headers["x-forwarded-for"];
      const chain = [...(before === undefined ? [] : [before]), incoming.socket.remoteAddress];
      const headers = { ...incoming.headers, "x-forwarded-for": chain.join(", ") };
      const { method, url: path } = incoming;
      const forwarded = sendPlain(
        { host: "127.0.0.1", port: targetPort(), method, path, headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      response.once("close", () => forwarded.destroy());
      incoming.pipe(forwarded.on("error", () => response.destroy()));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new TlsProxy(server, cert);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Sends a request to a name, without a resolver that knows it. */
  async send(url: URL, options: SendOptions = {}): Promise<Reply> {
    const answer = await this.#open(url, options);
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      text: await text(answer),
    };
  }

  /** Reads a response as it arrives, to its end. */
  async follow(
    url: URL,
    headers: OutgoingHttpHeaders,
    onText: (chunk: string) => void,
  ): Promise<void> {
    const answer = await this.#open(url, { headers });
    for await (const chunk of answer.setEncoding("utf8")) onText(chunk);
  }

  #open(
    url: URL,
    { method = "GET", headers = {}, body, localAddress }: SendOptions,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = sendRequest(
        {
          host: "127.0.0.1",
          port: this.port,
          servername: url.hostname,
          ca: this.#cert,
          method,
          path: url.pathname + url.search,
          headers: { host: url.host, ...headers },
          agent: false,
          ...(localAddress !== undefined && { localAddress }),
        },
        resolve,
      );
      sent.once("error", reject).end(body);
    });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

interface SendOptions {
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
  localAddress?: string;
}

export interface Reply {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
}
