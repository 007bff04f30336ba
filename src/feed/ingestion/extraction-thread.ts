import { workerData } from 'node:worker_threads';
import { lowerThreadPriority, serveTasks } from '../../platform/lib/threads/thread-worker.ts';
import { readReportFile, withReadablePage } from '../formats/report-files/read-report-file.ts';
import { readEntryText } from '../formats/rss/read-entry-text.ts';
import { completeItem, extractItem } from '../extraction/extract-item.ts';
import type { ExtractTask } from './extractor.ts';
import { applyInstalledLists } from './installed-lists.ts';

const knowledge = applyInstalledLists(String(workerData));

lowerThreadPriority();
// Loads the lists and weights that are read on first use, so that the time limit of the first text does not include it.
extractItem(
  { text: 'The actor APT28 deployed a web shell on 192.0.2.1 to steal credentials of Microsoft Exchange.' },
  knowledge,
);
serveTasks(async (task: ExtractTask) => {
  switch (task.kind) {
    case 'report':
      return extractItem(task.report, knowledge);
    case 'file':
      return readReportFile(task);
    case 'entry':
      return readEntryText(await withReadablePage(task.entry), knowledge);
    case 'complete':
      return completeItem(task.report, task.model, knowledge);
  }
});
