import { serveTasks } from '../../../src/platform/lib/threads/thread-worker.ts';
import { extractItem } from '../../../src/feed/extraction/extract-item.ts';
import { readEntryText } from '../../../src/feed/formats/rss/read-entry-text.ts';
import { sourceFormats, type SourceKind } from '../../../src/feed/formats/registry.ts';
import { measureGrowth, repeated } from '../../support/linear-time.ts';

/** A document in which `mark` stands for a text of repetitions. */
export type FuzzTask = {
  kind: SourceKind | 'text';
  document: string;
  mark: string;
  before: string;
  part: string;
  after: string;
};

const chars = 16_000;

/** Returns how many times as long a pull takes to parse the document with eight times the text, whether or not parsing succeeds. */
serveTasks(({ kind, document, mark, before, part, after }: FuzzTask): Promise<number> => {
  const textOf = repeated(part, before, after);
  return measureGrowth(
    (length) => document.replaceAll(mark, () => quote(document, textOf(length))),
    (text) => read(kind, text),
    chars,
  );
});

const quote = (document: string, text: string): string =>
  document.startsWith('{') ? JSON.stringify(text).slice(1, -1) : text;

function read(kind: FuzzTask['kind'], text: string): void {
  try {
    if (kind === 'text') extractItem({ text });
    else {
      const bytes = { name: 'part', bytes: Buffer.from(text) };
      for (const entry of sourceFormats[kind].parse([bytes], { reliability: 0.5 }).texts ?? []) readEntryText(entry);
    }
  } catch {
    // A parse error is a valid outcome.
  }
}
