import { useEffect, useRef } from 'react';

/** Returns a function that calls `act` once after `ms`, however often it is called until then. */
export function useDelayed(act: () => void, ms: number): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      act();
    }, ms);
  };
}
