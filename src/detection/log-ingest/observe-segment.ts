import type { CatalogField } from '../log-store/catalog/catalog.ts';
import { createFieldObserver, type ObservedField } from '../log-store/catalog/field-observer.ts';
import { createTurns } from './body/body-turns.ts';
import { readSegmentLines } from '../log-store/files/segment-file.ts';

/** A text segment at `path`, and the fields to count in it. */
export type ObserveTask = { path: string; known: readonly CatalogField[] };

/** Counts the values of known fields in a text segment, however many other keys its events have. */
export async function observeSegment({ path, known }: ObserveTask): Promise<ObservedField[]> {
  const observer = createFieldObserver(known);
  const takeTurn = createTurns();
  for await (const { text } of readSegmentLines(path)) {
    observer.observe(JSON.parse(text) as Record<string, unknown>);
    const turn = takeTurn();
    if (turn) await turn;
  }
  return observer.observed();
}
