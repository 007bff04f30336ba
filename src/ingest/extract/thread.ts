import { workerData } from 'node:worker_threads';
import { answerTasks } from '../../lib/thread.ts';
import { readEntryText } from '../feeds/read-entry-text.ts';
import { heldLists } from '../knowledge/large-lists.ts';
import { extractItem } from './extract-item.ts';
import type { ExtractTask } from './extractor.ts';

const benign = heldLists(String(workerData));

answerTasks((task: ExtractTask) =>
  task.kind === 'report' ? extractItem(task.report, benign) : readEntryText(task.entry, benign),
);
