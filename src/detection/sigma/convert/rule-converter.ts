import { appError } from '../../../platform/lib/errors.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { isPoolBusy } from '../../../platform/lib/threads/thread-error.ts';
import { createThreadPool } from '../../../platform/lib/threads/thread-pool.ts';
import type { ConvertedRule } from './convert-rules.ts';
import type { ConvertTask } from './convert-task.ts';

/** Converts the rules that organizations send, in a thread, in which they take turns. */
export type RuleConverter = {
  /** Rejects with `unavailable` (503) if too many conversions wait. */
  convert: (orgId: OrgId, task: ConvertTask) => Promise<ConvertedRule[]>;
  close: () => Promise<void>;
};

export function createRuleConverter(): RuleConverter {
  const threads = createThreadPool<ConvertTask, ConvertedRule[]>({
    file: new URL('convert-thread.ts', import.meta.url),
    threadsMax: 1,
    waitingMax: 50,
    memoryMb: 1_024,
  });
  return {
    convert: async (orgId, task) => {
      try {
        return await threads.run(task, { timeoutMs: 120_000, owner: orgId });
      } catch (error) {
        if (!isPoolBusy(error)) throw error;
        throw appError('unavailable', 'Too many rules are being converted. Try again in a few seconds.', {
          headers: { 'retry-after': '5' },
        });
      }
    },
    close: threads.close,
  };
}
