import type { Clock } from '../../../platform/lib/time/clock.ts';
import { siblingModule } from '../../../platform/lib/program-files.ts';
import { isPoolBusy, toUnavailable } from '../../../platform/lib/threads/thread-protocol.ts';
import { createThreadPool } from '../../../platform/lib/threads/thread-pool.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { failedSample, type SourceSample, type TestedSource } from './source-sample.ts';

/** Reads the beginning of a source. Throws `unavailable` (503) if too many tests are waiting. */
export type RunSourceTest = (source: TestedSource, orgId: OrgId) => Promise<SourceSample>;

export type SourceTestSettings = { dataDir: string; fetchAllow: string[]; fileSources: string[] };
export type SourceTestTask = { source: TestedSource; nowMs: number };

const timeoutMs = 45_000;

/** Tests sources in threads of their own, so that they never wait for pulls, nor pulls for them. Organizations take turns. */
export function createSourceTestThreads({ clock, config }: { clock: Clock; config: SourceTestSettings }): {
  runSourceTest: RunSourceTest;
  close: () => Promise<void>;
} {
  const { dataDir, fetchAllow, fileSources } = config;
  const threads = createThreadPool<SourceTestTask, SourceSample>({
    file: siblingModule('source-test-thread', import.meta),
    workerData: { dataDir, fetchAllow, fileSources } satisfies SourceTestSettings,
    threadsMax: 2,
    runningPerOwnerMax: 1,
    waitingMax: 16,
    memoryMb: 512,
  });
  const runSourceTest: RunSourceTest = async (source, owner) => {
    try {
      return await threads.run({ source, nowMs: clock().getTime() }, { timeoutMs, owner });
    } catch (error) {
      if (isPoolBusy(error)) throw toUnavailable(error, 'Too many tests are waiting. Try again in a minute.', 60);
      return failedSample('the test took too much time or memory');
    }
  };
  return { runSourceTest, close: threads.close };
}
