import { workerData } from 'node:worker_threads';
import { answerTasks } from '../lib/thread.ts';
import { useAttack } from './knowledge/attack.ts';
import { heldAttack } from './knowledge/held.ts';
import type { ParseTask } from './parser.ts';
import { sourceFormats } from './sources/registry.ts';

const attack = heldAttack(String(workerData));
if (attack) useAttack(attack);

answerTasks(({ kind, parts, context }: ParseTask) =>
  sourceFormats[kind].parse(
    // A buffer arrives as plain bytes.
    parts.map((part) => ({
      ...part,
      bytes: Buffer.from(part.bytes.buffer, part.bytes.byteOffset, part.bytes.byteLength),
    })),
    context,
  ),
);
