import { availableParallelism } from 'node:os';
import { unavailableError } from '../../../platform/lib/errors.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { siblingModule } from '../../../platform/lib/sibling-module.ts';
import { toUnavailable } from '../../../platform/lib/threads/thread-error.ts';
import { createThreadPool } from '../../../platform/lib/threads/thread-pool.ts';
import { readLogBody, type LogBody, type LogBodyTask } from './read-log-body.ts';

/**
 * Reads the bodies that organizations send. Large ones are read in threads, in which the bodies take turns: neither a request of another
 * organization nor the event loop waits for the end of a large body.
 */
export type BodyReader = {
  /** Takes the body over: its bytes are gone from this thread afterwards. Rejects like `readLogBody`, and with `unavailable` (503). */
  read: (orgId: OrgId, task: LogBodyTask) => Promise<LogBody>;
  close: () => Promise<void>;
};

// Even as the shortest events, these bytes take the event loop only a few milliseconds.
const inlineMaxBytes = 8 * 1024;
const bytesMax = 512 * 1024 * 1024;
const orgBytesMax = 128 * 1024 * 1024;
const timeoutMs = 600_000;
const tooMany = 'Too many events are being read. Try again in a few seconds.';
const retryAfterSeconds = 5;

export function createBodyReader(): BodyReader {
  const threads = createThreadPool<LogBodyTask, LogBody>({
    file: siblingModule('body-thread', import.meta),
    threadsMax: Math.min(4, Math.max(1, availableParallelism() - 1)),
    tasksPerThread: 8,
    runningPerOwnerMax: 4,
    waitingMax: 1_000,
    memoryMb: 1_024,
  });
  const bytesByOrg = new Map<OrgId, number>();
  const count = (orgId: OrgId, bytes: number): void => {
    const left = (bytesByOrg.get(orgId) ?? 0) + bytes;
    if (left === 0) bytesByOrg.delete(orgId);
    else bytesByOrg.set(orgId, left);
  };
  const readInThread = async (orgId: OrgId, task: LogBodyTask): Promise<LogBody> => {
    const { byteLength: bytes } = task.body;
    const total = [...bytesByOrg.values()].reduce((sum, one) => sum + one, bytes);
    if (total > bytesMax || (bytesByOrg.get(orgId) ?? 0) + bytes > orgBytesMax)
      throw unavailableError(tooMany, retryAfterSeconds);
    count(orgId, bytes);
    try {
      return await threads.run(task, { timeoutMs, owner: orgId, transfer: listOwnBuffers(task.body) });
    } catch (error) {
      throw toUnavailable(error, tooMany, retryAfterSeconds);
    } finally {
      count(orgId, -bytes);
    }
  };
  return {
    read: (orgId, task) => (isSmall(task.body) ? readLogBody(task) : readInThread(orgId, task)),
    close: threads.close,
  };
}

const isGzip = (body: Uint8Array): boolean => body[0] === 0x1f && body[1] === 0x8b;
const isSmall = (body: Uint8Array): boolean => body.byteLength <= inlineMaxBytes && !isGzip(body);

/** Returns the memory of the bytes if nothing else is in it, so that it moves to the thread instead of being copied. */
const listOwnBuffers = ({ buffer, byteLength }: Uint8Array): ArrayBuffer[] =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
