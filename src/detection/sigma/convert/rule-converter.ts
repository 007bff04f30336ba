import { appError, fieldError } from '../../../platform/lib/errors.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { siblingModule } from '../../../platform/lib/program-files.ts';
import { isPoolBusy, ThreadError } from '../../../platform/lib/threads/thread-protocol.ts';
import { createThreadPool } from '../../../platform/lib/threads/thread-pool.ts';
import type { ConvertedRule } from './convert-rules.ts';
import type { ConvertTask } from './convert-task.ts';

const timeoutMs = 120_000;
const memoryMb = 1_024;

/** Converts the rules that organizations send, in threads. Organizations take turns, and none occupies both threads. */
export type RuleConverter = {
  /** Rejects with `unavailable` (503) if too many conversions wait. */
  convert: (orgId: OrgId, task: ConvertTask) => Promise<ConvertedRule[]>;
  close: () => Promise<void>;
};

export function createRuleConverter(): RuleConverter {
  const threads = createThreadPool<ConvertTask, ConvertedRule[]>({
    file: siblingModule('convert-thread', import.meta),
    threadsMax: 2,
    runningPerOwnerMax: 1,
    waitingMax: 50,
    memoryMb,
  });
  return {
    convert: async (orgId, task) => {
      try {
        return await threads.run(task, { timeoutMs, owner: orgId });
      } catch (error) {
        if (!(error instanceof ThreadError)) throw error;
        if (!isPoolBusy(error))
          throw fieldError(
            '/rules',
            'too_much',
            `The rules need more than ${timeoutMs / 1000} seconds or ${memoryMb} MiB of memory. Send fewer at a time.`,
          );
        throw appError('unavailable', 'Too many rules are being converted. Try again in a few seconds.', {
          headers: { 'retry-after': '5' },
        });
      }
    },
    close: threads.close,
  };
}
