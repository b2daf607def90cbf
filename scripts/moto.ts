/**
 * `npm run test:moto -- --server PATH`: runs the executor `cloudformation` against moto's server. Deploys, then kills
 * the program at each of its requests and deploys again. No change set may be executed twice, and each success must be
 * what the server shows.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommandError, readCommandLine, runCommand } from "./lib/command.ts";
import { ExecutorProgram } from "./moto/executor-program.ts";
import { MotoServer } from "./moto/moto-server.ts";
import { RequestProxy } from "./moto/request-proxy.ts";

const USAGE = "Usage: npm run test:moto -- [--server moto_server]";

const queue = (properties: object = {}) => ({ Type: "AWS::SQS::Queue", Properties: properties });
const FIRST = { Resources: { Orders: queue(), Mails: queue() } };
const SECOND = { Resources: { Orders: queue({ DelaySeconds: 5 }), Invoices: queue() } };

interface Template {
  Resources: object;
}

await runCommand(async () => {
  const options = { server: { type: "string", default: "moto_server" } } as const;
  const { values } = readCommandLine(options, USAGE);
  const folder = mkdtempSync(join(tmpdir(), "longshore-moto-"));
  const server = await MotoServer.start(values.server);
  const proxy = await RequestProxy.start(server.url);
  try {
    const run = { folder, server, proxy };
    const actions = await deployTwice(run);
    let kills = 0;
    for (const [at] of actions.entries()) {
      for (const isForwarded of [false, true]) {
        await killAt(run, at, isForwarded);
        kills += 1;
      }
    }
    console.log(
      `A creation, an update, and one without changes; killed ${kills} times at ${actions.length} requests.`,
    );
    return 0;
  } finally {
    await proxy.stop();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
});

interface Run {
  folder: string;
  server: MotoServer;
  proxy: RequestProxy;
}

/** Returns the requests of an update. */
async function deployTwice(run: Run): Promise<string[]> {
  const program = await prepare(run);
  await deploy(run, program, FIRST);
  run.proxy.actions.length = 0;
  await deploy(run, program, SECOND);
  const actions = [...run.proxy.actions];
  const { log } = await deploy(run, program, SECOND);
  if (!log.includes("Nothing changes")) throw new CommandError(`Something changes:\n${log}`);
  return actions;
}

/** At a request of an update, before or after the server has got it. */
async function killAt(run: Run, at: number, isForwarded: boolean): Promise<void> {
  const { proxy } = run;
  const program = await prepare(run);
  await deploy(run, program, FIRST);
  proxy.actions.length = 0;
  proxy.decide = (index) => {
    if (index !== at) return "answer";
    program.kill();
    return isForwarded ? "forward" : "drop";
  };
  await program.deploy(SECOND);
  proxy.decide = () => "answer";
  await deploy(run, program, SECOND);
  const twice = proxy.executed.filter((each, index) => proxy.executed.indexOf(each) !== index);
  if (twice.length > 0) throw new CommandError(`Executed twice: ${twice.join(", ")}`);
}

async function prepare({ folder, server, proxy }: Run): Promise<ExecutorProgram> {
  await server.reset();
  proxy.executed.length = 0;
  return new ExecutorProgram(folder, proxy.url);
}

/** Fails unless the program and the server say that the stack has the template. */
async function deploy({ server }: Run, program: ExecutorProgram, template: Template) {
  const result = await program.deploy(template);
  const names = await server.listResources(program.stackName);
  const expected = Object.keys(template.Resources);
  const isDeployed = names.toSorted().join() === expected.toSorted().join();
  if (result.status === 0 && isDeployed) return result;
  throw new CommandError(
    `Expected ${expected}, found ${names}, and the program ends with ${result.status}:\n${result.log}`,
  );
}
