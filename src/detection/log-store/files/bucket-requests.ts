import { setTimeout as sleep } from 'node:timers/promises';
import { NoSuchKey } from '@aws-sdk/client-s3';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { LogStorageError } from './segment-store.ts';

/** The object of a request does not exist. */
export class MissingObjectError extends LogStorageError {}

type NamedBucket = { bucket: string; host: string; log: Logger };

const triesMax = 4;
const firstPauseMs = 200;
/** Returns whether a status does not change when the request is repeated. */
const isFinal = (status: number | undefined): boolean => status !== undefined && status < 500 && status !== 429;

/**
 * Runs a request to a bucket, up to four times if the storage does not respond or fails. `action` completes "The bucket did not …". Throws a
 * LogStorageError, or the error itself if the local disk is full.
 */
export async function sendToBucket<T>(target: NamedBucket, action: string, send: () => Promise<T>): Promise<T> {
  const { bucket, host, log } = target;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (error instanceof NoSuchKey)
        throw new MissingObjectError(`The bucket ${bucket} at ${host} did not ${action}: the object does not exist.`);
      const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
      // The local disk is full, which is no fault of the bucket.
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') {
        log.error({ bucket }, `The local disk is full, so the bucket ${bucket} could not ${action}.`);
        throw error;
      }
      if (attempt === triesMax || isFinal(status)) throw describeFailure(target, action, error, status);
      await sleep(firstPauseMs * 2 ** (attempt - 1));
    }
  }
}

/** Logs a failed request and returns its error. */
function describeFailure(
  { bucket, host, log }: NamedBucket,
  action: string,
  error: unknown,
  status: number | undefined,
): LogStorageError {
  const { name, message, code } = error as Error & { code?: string };
  const reason = [status, name === 'Error' ? code : name, message].filter(Boolean).join(' ');
  const described = `The bucket ${bucket} at ${host} did not ${action}: ${reason}`;
  log.error({ bucket, host, reason }, described);
  return new LogStorageError(described, { cause: error });
}
