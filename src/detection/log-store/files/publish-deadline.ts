import { unavailableError } from '../../../platform/lib/errors.ts';

/** How long after it was stored a file may still be published. */
const publishMsMax = 30 * 60_000;

/**
 * How old an unlisted file is at least when it is removed. A file older than this can no longer be published, even if the clocks of this
 * machine and the store differ by some minutes.
 */
export const orphanGraceMs = 2 * publishMsMax;

/**
 * Starts the time limit of a file that is about to be stored. Call the returned function as the last step of the transaction that lists the
 * file: it throws if the file may already have been removed as an orphan.
 */
export function startPublishing(nowMs: () => number = () => performance.now()): () => void {
  const startedMs = nowMs();
  return () => {
    if (nowMs() - startedMs > publishMsMax) throw unavailableError('Storing took too long. Try again.', 5);
  };
}
