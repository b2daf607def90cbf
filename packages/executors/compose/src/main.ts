import { runProgram, toLowerId } from "../../program/src/index.ts";
import { ComposeDeployment } from "./deployment.ts";
import { Docker } from "./docker.ts";
import type { ComposeValues } from "./project.ts";

await runProgram<ComposeValues>(async (context) => {
  const { input, folder } = context;
  const docker = Docker.connect(input.connection, folder);
  // The same as in the deploy.sh of `longshore init`, so that an executor goes on with its containers.
  const name = `longshore-${toLowerId(input.stack.id)}`;
  await new ComposeDeployment(context, docker, name).run();
});
