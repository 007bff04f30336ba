import { answerTasks } from '../../lib/thread.ts';
import { readEntryText } from '../feeds/read-entry-text.ts';
import { extractItem } from './extract-item.ts';
import type { ExtractTask } from './extractor.ts';

answerTasks((task: ExtractTask) => (task.kind === 'report' ? extractItem(task.report) : readEntryText(task.entry)));
