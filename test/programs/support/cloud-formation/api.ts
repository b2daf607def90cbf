import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Account } from "./account.ts";
import { Refusal } from "./change-sets.ts";
import { renderError, renderResult, type XmlValue } from "./xml.ts";

/** A request, with its place among those of its service. */
export interface QueryRequest {
  action: string;
  parameters: URLSearchParams;
  /** From 0. */
  index: number;
}

/** What happens to a request: a lost response is that of a request that has had its effect. */
export type Fault = "throttle" | "lose request" | "lose response";

const ACCESS_KEY = "AKIDRUNNER";
const LIFE_MS = 3_600_000;
const KNOWN = /Credential=(\w+)\/\d+\/([\w-]+)\/(\w+)\/aws4_request/;

/** Stands in for the query APIs of CloudFormation and STS, in one account and region. */
export class CloudFormationApi {
  readonly account = new Account(() => this.url);
  /** Of the runner. */
  readonly credentials = { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: "canary-of-aws" };
  /** The external IDs of roles, by ARN. */
  readonly roles = new Map<string, string>();
  readonly calls: QueryRequest[] = [];
  /** Decides what happens to a request. */
  fault: (call: QueryRequest) => Fault | undefined | Promise<Fault | undefined> = () => undefined;
  readonly #sessions = new Set<string>();
  readonly #server = createServer((request, response) => this.#handle(request, response));

  static async start(): Promise<CloudFormationApi> {
    const api = new CloudFormationApi();
    api.#server.listen(0, "127.0.0.1");
    await once(api.#server, "listening");
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** For the environment of what calls it. */
  get environment(): Record<string, string> {
    const url = this.url;
    return {
      ...this.credentials,
      AWS_ENDPOINT_URL_CLOUDFORMATION: url,
      AWS_ENDPOINT_URL_STS: url,
      AWS_EC2_METADATA_DISABLED: "true",
    };
  }

  get actions(): string[] {
    return this.calls.map(({ action }) => action);
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") return this.#servePage(request, response);
    const parameters = new URLSearchParams(await text(request));
    const action = parameters.get("Action") ?? "";
    const call = { action, parameters, index: this.calls.length };
    this.calls.push(call);
    const fault = await this.fault(call);
    if (fault === "lose request") return void response.destroy();
    if (fault === "throttle") {
      return void response.writeHead(400).end(renderError("Throttling", "Rate exceeded"));
    }
    const { status, body } = this.#reply(call, request.headers.authorization ?? "");
    if (fault === "lose response") return void response.destroy();
    response.writeHead(status, { "content-type": "text/xml" }).end(body);
  }

  #reply(call: QueryRequest, authorization: string): { status: number; body: string } {
    try {
      this.#authenticate(call, authorization);
      return { status: 200, body: renderResult(call.action, this.#run(call)) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const status = error.code.startsWith("AccessDenied") ? 403 : 400;
      return { status, body: renderError(error.code, error.message) };
    }
  }

  /** CloudFormation accepts only the role; the runner's own credentials are for STS. */
  #authenticate({ action }: QueryRequest, authorization: string): void {
    const [, key = "", region, service] = KNOWN.exec(authorization) ?? [];
    const isKnown = service === "sts" ? key === ACCESS_KEY : this.#sessions.has(key);
    if (isKnown && region === this.account.region) return;
    throw new Refusal("AccessDenied", `${key} is not authorized to perform ${action} in ${region}`);
  }

  #run({ action, parameters }: QueryRequest): XmlValue {
    const get = (name: string) => parameters.get(name) ?? "";
    if (action === "AssumeRole") return this.#assumeRole(get("RoleArn"), get("ExternalId"));
    if (action === "GetCallerIdentity") return { Account: this.account.accountId };
    return this.account.run(action, parameters);
  }

  #assumeRole(arn: string, externalId: string): XmlValue {
    if (this.roles.get(arn) !== externalId) {
      throw new Refusal(
        "AccessDenied",
        `User is not authorized to perform: sts:AssumeRole on ${arn}`,
      );
    }
    const AccessKeyId = `ASIA${this.#sessions.size}`;
    this.#sessions.add(AccessKeyId);
    const Expiration = new Date(Date.now() + LIFE_MS).toISOString();
    return {
      Credentials: { AccessKeyId, SecretAccessKey: "s", SessionToken: "t", Expiration },
    };
  }

  /** What the stacks of the example serve. */
  #servePage({ url = "" }: IncomingMessage, response: ServerResponse): void {
    const { target } = this.account.find(url.split("/").at(-1) ?? "");
    response.end(`<h1>${target.parameters["Greeting"]}</h1>\n`);
  }
}
