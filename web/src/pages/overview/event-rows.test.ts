import { expect, test } from 'vitest';
import type { LiveEvent } from '../../api/overview.ts';
import { toEventRows } from './event-rows.ts';

const event = (id: string, type: string, data: LiveEvent['data'] = {}): LiveEvent =>
  ({ id, type, timestamp: '2026-11-22T12:00:00Z', data }) as LiveEvent;
const labels = new Map([['hit.created', 'New hit']]);
const run = (id: string, hitCount: number, rowsTotal = 10): LiveEvent =>
  event(id, 'run.completed', { id, hitCount, rowsTotal });

test('joins completed runs without hits that follow each other', () => {
  const rows = toEventRows([run('a', 0), run('b', 0, 5), run('c', 1), run('d', 0)], labels);
  expect(rows.map(({ key }) => key)).toEqual(['a', 'c', 'd']);
  expect(rows[0]!.title).toContain('2');
  expect(rows[0]!.detail).toContain('15');
});

test('leads from an event to its record', () => {
  const links = toEventRows(
    [
      event('a', 'hit.created', { id: 'h', headline: 'A sign-in', severity: 'high' }),
      event('b', 'gap.opened', { detectionId: 'd' }),
      event('c', 'feed.item.added', { id: 'i', event: { title: 'A report', severity: 'low' } }),
      event('d', 'feed.source.failed', { id: 's', name: 'A source' }),
    ],
    labels,
  );
  expect(links[0]!.title).toBe('New hit');
  expect(links.map(({ link }) => link)).toEqual([
    { to: '/hits/$id', params: { id: 'h' } },
    { to: '/detections/$id', params: { id: 'd' } },
    { to: '/feed/$id', params: { id: 'i' } },
    { to: '/sources', search: { source: 's' } },
  ]);
  expect(links.map(({ detail, severity, isBad }) => [detail, severity, isBad])).toEqual([
    ['A sign-in', 'high', false],
    ['', undefined, true],
    ['A report', 'low', false],
    ['A source', undefined, true],
  ]);
});

test('shows a type that it does not know by its name', () => {
  expect(toEventRows([event('a', 'toString', { id: 'x' })], labels)[0]).toMatchObject({
    title: 'toString',
    detail: 'x',
  });
});
