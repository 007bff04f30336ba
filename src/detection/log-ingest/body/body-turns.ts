import { setImmediate as nextTurn } from 'node:timers/promises';
import { appError, type AppError } from '../../../platform/lib/errors.ts';

// Bodies that one thread reads take turns of this length.
const turnMs = 10;

/** Returns a function to await after every event, which lets the other bodies of the thread continue once the turn is over. */
export function createTurns(): () => Promise<void> | undefined {
  let startMs = performance.now();
  const takeTurn = async (): Promise<void> => {
    await nextTurn();
    startMs = performance.now();
  };
  return () => (performance.now() - startMs < turnMs ? undefined : takeTurn());
}

/** Returns a view of the same bytes. */
export const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const tooManyEvents = (eventsMax: number): AppError =>
  appError('payload_too_large', `The body has more than ${eventsMax} events. Send them in several requests.`);
