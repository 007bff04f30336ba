import { workerData } from 'node:worker_threads';
import { serveTasks } from '../../platform/lib/threads/thread-worker.ts';
import { readEntryText } from '../formats/rss/read-entry-text.ts';
import { useAttack } from '../reference-data/attack.ts';
import { heldAttack, heldLists, heldNames } from '../reference-data/installed.ts';
import { tableWith } from '../reference-data/installed-names.ts';
import { extractItem, type Knowledge } from '../extraction/extract-item.ts';
import type { ExtractTask } from './extractor.ts';
import { readNames } from '../extraction/names/dictionary.ts';

// The main process reports unreadable reference data once, when it starts (build-deps.ts).
const dataDir = String(workerData);
const attack = heldAttack(dataDir);
const names = heldNames(dataDir);
if (attack) useAttack(attack);
const knowledge: Knowledge = {
  benign: heldLists(dataDir),
  names: attack || names ? readNames(tableWith(attack, names)) : undefined,
};

serveTasks((task: ExtractTask) =>
  task.kind === 'report' ? extractItem(task.report, knowledge) : readEntryText(task.entry, knowledge),
);
