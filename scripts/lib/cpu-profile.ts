/** The parts of the format that V8's profiler writes. `timeDeltas` are in microseconds. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string } }[];
  samples: number[];
  timeDeltas: number[];
}

/** The milliseconds of a profile (JSON) in which the processor was not idle. */
export function activeMs(json: string): number {
  const { nodes, samples, timeDeltas }: CpuProfile = JSON.parse(json);
  const idle = new Set(
    nodes.filter((node) => node.callFrame.functionName === "(idle)").map(({ id }) => id),
  );
  const active = timeDeltas.filter((_, at) => !idle.has(Number(samples[at])));
  return active.reduce((sum, each) => sum + each, 0) / 1000;
}
