interface ModuleRunner {
  import(id: string, options?: { invalidate?: boolean }): Promise<unknown>;
  readonly evaluatedModules: {
    getModuleById(id: string): { evaluated: boolean; exports: unknown } | undefined;
  };
}

const patched = new WeakSet<ModuleRunner>();

/**
 * Imports modules that are evaluated without a request to Vitest's process, which the runner sends even
 * then: the pool imports the Worker's entry at each call of a Durable Object.
 */
export function importEvaluatedModules(): void {
  const { moduleRunner } = (
    globalThis as unknown as { __vitest_mocker__: { moduleRunner: ModuleRunner } }
  ).__vitest_mocker__;
  if (patched.has(moduleRunner)) return;
  patched.add(moduleRunner);
  const importModule = moduleRunner.import.bind(moduleRunner);
  moduleRunner.import = async (id, options) => {
    const known = options?.invalidate ? undefined : moduleRunner.evaluatedModules.getModuleById(id);
    return known?.evaluated ? known.exports : importModule(id, options);
  };
}
