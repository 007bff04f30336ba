import { serveTasks } from '../../../src/platform/lib/threads/thread-worker.ts';
import { extractItem } from '../../../src/feed/extraction/extract-item.ts';
import { readEntryText } from '../../../src/feed/formats/rss/read-entry-text.ts';
import { sourceFormats, type SourceKind } from '../../../src/feed/formats/registry.ts';

export type FuzzTask = { kind: SourceKind | 'text'; text: string };

/** Parses the document as a pull does and returns the time in milliseconds, whether or not parsing succeeds. */
serveTasks(({ kind, text }: FuzzTask): number => {
  const began = performance.now();
  try {
    if (kind === 'text') extractItem({ text });
    else {
      const part = { name: 'part', bytes: Buffer.from(text) };
      for (const entry of sourceFormats[kind].parse([part], { reliability: 0.5 }).texts ?? []) readEntryText(entry);
    }
  } catch {
    // A parse error is a valid outcome.
  }
  return performance.now() - began;
});
