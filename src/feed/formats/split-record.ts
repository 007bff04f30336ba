import { createHash, hash } from 'node:crypto';
import { toPartId, type SourceRecord } from '../model/source-record.ts';
import { clip } from './record-fields.ts';

const valuesPerItem = 1_500;
const charsPerItem = 2_000_000;
const stepsOfItems = [1, 16, 512];
export const itemsMax = stepsOfItems.at(-1)!;
// Leaves room for items that get more than their share.
const fillFactor = 0.8;
const titleMaxChars = 480;

/**
 * Returns the number of items of a list, report or event with this many values. The steps are far apart because values move to other items
 * when one grows into the next step.
 */
export function countItems(values: number, chars = 0): number {
  const items = Math.max(values / valuesPerItem, chars / charsPerItem);
  return stepsOfItems.find((step) => items <= (step === 1 ? 1 : step * fillFactor)) ?? itemsMax;
}

/** Returns which of `count` items a value belongs to, from 0. It depends on the value alone, so that a value stays in its item. */
export const pickItem = (value: string, count: number): number =>
  count === 1 ? 0 : Number.parseInt(hash('sha256', value).slice(0, 8), 16) % count;

/** Returns the id of a record that holds one part of a report or event. */
export const toPartRecordId = (recordId: string, part: number): string =>
  part === 0 ? recordId : toPartId(recordId, part + 1);

/** Returns the record of one part of a report or event. `part` counts from 0. The first part keeps the ids of the whole. */
export function toPartRecord(record: SourceRecord, part: number, count: number): SourceRecord {
  if (count === 1) return record;
  const title = `${clip(record.title, titleMaxChars)} (${part + 1} of ${count})`;
  if (part === 0) return { ...record, title };
  const recordId = toPartRecordId(record.recordId, part);
  return { ...record, title, recordId, canonicalKey: `txt:${createHash('sha256').update(recordId).digest('hex')}` };
}
