import { expect, test } from 'vitest';
import type { FeedItem } from '../../../api/feed.ts';
import { foldParts, isLongDocument } from './fold-parts.ts';

/** An item with what the list compares. */
const item = (id: string, title: string, severity = 'low'): FeedItem =>
  ({
    id,
    event: { title, severity, status: 'active' },
    source: { name: 'Lists', publisher: 'Example' },
    tenantOverrides: null,
  }) as unknown as FeedItem;

const idsOf = (items: FeedItem[]) => foldParts(items).map((entry) => entry.items.map(({ id }) => id));

test('folds neighboring parts of one document in the order of the document', () => {
  const items = [
    item('a', 'List (2 of 3)'),
    item('b', 'List (1 of 3)'),
    item('c', 'Other'),
    item('d', 'List (3 of 3)'),
  ];
  expect(idsOf(items)).toEqual([['b', 'a'], ['c'], ['d']]);
  expect(foldParts(items)[0]).toMatchObject({ id: 'a', document: { title: 'List', count: 3 } });
});

test('keeps parts apart that differ in the number of parts or in severity', () => {
  expect(idsOf([item('a', 'List (1 of 3)'), item('b', 'List (2 of 4)')])).toEqual([['a'], ['b']]);
  expect(idsOf([item('a', 'List (1 of 3)'), item('b', 'List (2 of 3)', 'high')])).toEqual([['a'], ['b']]);
});

test('calls a document long if a hundred of its parts are loaded and others are not', () => {
  const parts = (count: number, of: number) =>
    foldParts(Array.from({ length: count }, (_, index) => item(`${index}`, `List (${index + 1} of ${of})`)))[0];
  expect([parts(99, 500), parts(100, 500), parts(100, 100)].map(isLongDocument)).toEqual([false, true, false]);
  expect(isLongDocument(undefined)).toBe(false);
});
