import { answerTasks } from '../../../src/platform/lib/threads/thread-worker.ts';
import { extractItem } from '../../../src/feed/extraction/extract-item.ts';
import { readEntryText } from '../../../src/feed/formats/rss/read-entry-text.ts';
import { sourceFormats, type SourceKind } from '../../../src/feed/formats/registry.ts';

export type FuzzTask = { kind: SourceKind | 'text'; text: string };

/** Reads it as a pull does and answers how long that took, in milliseconds; whether it could be read does not matter. */
answerTasks(({ kind, text }: FuzzTask): number => {
  const began = performance.now();
  try {
    if (kind === 'text') extractItem({ text });
    else {
      const part = { name: 'part', bytes: Buffer.from(text) };
      for (const entry of sourceFormats[kind].parse([part], { reliability: 0.5 }).texts ?? []) readEntryText(entry);
    }
  } catch {
    // A refusal is an answer.
  }
  return performance.now() - began;
});
