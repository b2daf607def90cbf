import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** `forward` drops the answer only. */
export type Decision = "answer" | "forward" | "drop";

/** Passes requests to a server, or loses them. */
export class RequestProxy {
  /** Of all requests. */
  readonly actions: string[] = [];
  /** The change sets of the executions that the server got. */
  readonly executed: string[] = [];
  decide: (index: number) => Decision = () => "answer";
  readonly #target: string;
  readonly #server = createServer((request, response) => this.#handle(request, response));

  private constructor(target: string) {
    this.#target = target;
  }

  static async start(target: string): Promise<RequestProxy> {
    const proxy = new RequestProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const parameters = new URLSearchParams(body);
    const action = parameters.get("Action") ?? "";
    const decision = this.decide(this.actions.length);
    this.actions.push(action);
    if (decision === "drop") {
      response.destroy();
      return;
    }
    if (action === "ExecuteChangeSet") this.executed.push(parameters.get("ChangeSetName") ?? "");
    const { authorization = "", "content-type": type = "" } = request.headers;
    const answer = await fetch(this.#target, {
      method: "POST",
      headers: { authorization, "content-type": type },
      body,
    });
    const content = await answer.text();
    if (decision === "forward") response.destroy();
    else response.writeHead(answer.status, { "content-type": "text/xml" }).end(content);
  }
}
