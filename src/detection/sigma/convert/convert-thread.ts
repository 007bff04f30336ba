import { lowerThreadPriority, serveTasks } from '../../../platform/lib/threads/thread-worker.ts';
import { readRuleText } from '../rules/read-documents.ts';
import { convertTask, type ConvertTask } from './convert-task.ts';

/** `rules` is YAML, or an archive of files with YAML. */
export type ConvertThreadTask = Omit<ConvertTask, 'rules'> & { rules: string | Uint8Array };

lowerThreadPriority();
serveTasks(async ({ rules, ...task }: ConvertThreadTask) =>
  convertTask({ ...task, rules: typeof rules === 'string' ? rules : await readRuleText(rules) }),
);
