import { useRef, useState } from "preact/hooks";
import { announce } from "./announce.ts";
import { endSession, isSignedOut } from "./session.ts";

export interface Action {
  isRunning: boolean;
  error: unknown;
  /** Does nothing while an earlier run goes on. Returns whether it worked. */
  run: (work: () => Promise<unknown>, done?: string) => Promise<boolean>;
  /** Forgets the error. */
  reset: () => void;
}

/** A change that a button or a form makes. `done` is announced when it has worked. */
export function useAction(): Action {
  const [state, setState] = useState<{ isRunning: boolean; error?: unknown }>({ isRunning: false });
  const isRunning = useRef(false);
  return {
    isRunning: state.isRunning,
    error: state.error,
    reset: () => setState({ isRunning: false }),
    run: async (work, done) => {
      if (isRunning.current) return false;
      isRunning.current = true;
      setState({ isRunning: true });
      try {
        await work();
        setState({ isRunning: false });
        if (done) announce(done);
        return true;
      } catch (error) {
        if (isSignedOut(error)) endSession();
        setState({ isRunning: false, error });
        return false;
      } finally {
        isRunning.current = false;
      }
    },
  };
}
