import { workerData } from 'node:worker_threads';
import { lowerThreadPriority, serveTasks } from '../../platform/lib/threads/thread-worker.ts';
import { readEntryText } from '../formats/rss/read-entry-text.ts';
import { extractItem } from '../extraction/extract-item.ts';
import type { ExtractTask } from './extractor.ts';
import { applyInstalledLists } from './installed-lists.ts';

const knowledge = applyInstalledLists(String(workerData));

lowerThreadPriority();
serveTasks((task: ExtractTask) =>
  task.kind === 'report' ? extractItem(task.report, knowledge) : readEntryText(task.entry, knowledge),
);
