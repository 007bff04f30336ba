import { ExternalError } from '../../../platform/lib/external-error.ts';
import { isPoolBusy, ThreadError } from '../../../platform/lib/threads/thread-protocol.ts';

/** Why a pull is not good. The message is safe to show. Any other error is a fault of the service. */
export class BadPull extends Error {}

/**
 * Runs `work` and turns an error that the source caused into a `BadPull` with the original error as its cause: the source does not answer, or its
 * documents cannot be read, or not within the limits of time and memory. Other errors stay what they are: faults of the service.
 */
export async function asBadPull<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfSource = error instanceof ExternalError || (error instanceof ThreadError && !isPoolBusy(error));
    throw isOfSource ? new BadPull(error.message, { cause: error }) : error;
  }
}
