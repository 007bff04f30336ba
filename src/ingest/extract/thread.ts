import { workerData } from 'node:worker_threads';
import { answerTasks } from '../../lib/thread.ts';
import { readEntryText } from '../feeds/read-entry-text.ts';
import { useAttack } from '../knowledge/attack.ts';
import { heldAttack, heldLists, heldNames } from '../knowledge/held.ts';
import { tableWith } from '../knowledge/held-names.ts';
import { extractItem, type Knowledge } from './extract-item.ts';
import type { ExtractTask } from './extractor.ts';
import { readNames } from './names/dictionary.ts';

// What is broken there is told once, at the start of the process (build-deps.ts).
const dataDir = String(workerData);
const attack = heldAttack(dataDir);
const names = heldNames(dataDir);
if (attack) useAttack(attack);
const knowledge: Knowledge = {
  benign: heldLists(dataDir),
  names: attack || names ? readNames(tableWith(attack, names)) : undefined,
};

answerTasks((task: ExtractTask) =>
  task.kind === 'report' ? extractItem(task.report, knowledge) : readEntryText(task.entry, knowledge),
);
