import { availableParallelism } from 'node:os';
import { unavailableError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { siblingModule } from '../../platform/lib/program-files.ts';
import { toUnavailable } from '../../platform/lib/threads/thread-protocol.ts';
import { createThreadPool } from '../../platform/lib/threads/thread-pool.ts';
import { isCompressed } from '../log-ingest/body/inflate.ts';
import type { ObserveTask } from '../log-ingest/body/event-batch.ts';
import type { LogBodyReader } from '../log-ingest/receive-logs.ts';
import type { ShipperBodyReader } from './receive-shipper-body.ts';
import { readBody, type BodyTask, type ReaderResult, type ReaderTask } from './read-shipper-body.ts';

/**
 * Reads the bodies that organizations send. Large ones are read in threads, in which the bodies take turns: neither a request of another
 * organization nor the event loop waits for the end of a large body.
 */
export type BodyReader = LogBodyReader & ShipperBodyReader & { close: () => Promise<void> };

// Even as the shortest events, these bytes take the event loop only a few milliseconds.
const inlineMaxBytes = 8 * 1024;
const bytesMax = 512 * 1024 * 1024;
const orgBytesMax = 128 * 1024 * 1024;
const timeoutMs = 600_000;
const tooMany = 'Too many events are being read. Try again in a few seconds.';
const retryAfterSeconds = 5;

export function createBodyReader(): BodyReader {
  const threads = createThreadPool<ReaderTask, ReaderResult>({
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
  const runInThread = (orgId: OrgId, task: ReaderTask, transfer: ArrayBuffer[] = []): Promise<ReaderResult> =>
    threads.run(task, { timeoutMs, owner: orgId, transfer }).catch((error: unknown) => {
      throw toUnavailable(error, tooMany, retryAfterSeconds);
    });
  const readInThread = async (orgId: OrgId, task: BodyTask): Promise<ReaderResult> => {
    const { byteLength: bytes } = task.body;
    const total = [...bytesByOrg.values()].reduce((sum, one) => sum + one, bytes);
    if (total > bytesMax || (bytesByOrg.get(orgId) ?? 0) + bytes > orgBytesMax)
      throw unavailableError(tooMany, retryAfterSeconds);
    count(orgId, bytes);
    try {
      return await runInThread(orgId, task, listOwnBuffers(task.body));
    } finally {
      count(orgId, -bytes);
    }
  };
  const read = (orgId: OrgId, task: BodyTask): Promise<ReaderResult> =>
    isSmall(task.body) ? readBody(task) : readInThread(orgId, task);
  const observe = (orgId: OrgId, task: ObserveTask, bytes: number): Promise<ReaderResult> =>
    bytes <= inlineMaxBytes ? readBody(task) : runInThread(orgId, task);
  return {
    // The kind of the result follows from that of the task.
    read: read as BodyReader['read'],
    observe: observe as BodyReader['observe'],
    close: threads.close,
  };
}

const isSmall = (body: Uint8Array): boolean => body.byteLength <= inlineMaxBytes && !isCompressed(body);

/** Returns the memory of the bytes if nothing else is in it, so that it moves to the thread instead of being copied. */
const listOwnBuffers = ({ buffer, byteLength }: Uint8Array): ArrayBuffer[] =>
  buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
