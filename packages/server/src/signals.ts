const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const ENDED_BY_SECOND_SIGNAL = 1;

/** Resolves at the first signal to stop. The second ends the process at once. */
export function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (isStopping) process.exit(ENDED_BY_SECOND_SIGNAL);
        isStopping = true;
        resolve();
      });
    }
  });
}

/** Runs what adds listeners that end the process at a signal, and removes them. */
export function withoutSignalListeners<T>(run: () => T): T {
  const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
  try {
    return run();
  } finally {
    for (const [signal, known] of before) {
      const added = process.listeners(signal).filter((each) => !known.includes(each));
      for (const listener of added) process.removeListener(signal, listener);
    }
  }
}
