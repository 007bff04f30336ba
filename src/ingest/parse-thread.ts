import { answerTasks } from '../lib/thread.ts';
import type { ParseTask } from './parser.ts';
import { sourceFormats } from './sources/registry.ts';

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
