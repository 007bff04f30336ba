import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { electRoot, groupItems, type GroupLink, type GroupNode } from './groups.ts';
import { type RootCandidate } from './deduplication.store.ts';

const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const nodesOf = (fixed: string[]): GroupNode[] =>
  ids.map((id) => ({ id, key: `key ${id}`, isFixed: fixed.includes(id) }));
const named = (groups: string[][]): string[] => groups.map((group) => group.toSorted().join('')).toSorted();
const same = (a: string, b: string, weight = 0.5): GroupLink => ({ a, b, kind: 'same', weight });
const apart = (a: string, b: string): GroupLink => ({ a, b, kind: 'apart', weight: 4 });

const anyLinks = fc.array(
  fc.record({
    a: fc.constantFrom(...ids),
    b: fc.constantFrom(...ids),
    kind: fc.constantFrom('same', 'same', 'same', 'together', 'apart') as fc.Arbitrary<GroupLink['kind']>,
    weight: fc.constantFrom(0.5, 0.7, 0.7, 1, 3),
  }),
  { maxLength: 14 },
);

describe('groupItems', () => {
  const weaker = same('a', 'b', 0.6);
  const stronger = same('b', 'c', 0.9);
  test.each([
    ['groups connected items when there are no decisions', [], [weaker, stronger, same('f', 'e')], 'abc d ef g'],
    [
      'keeps a separated pair apart even through a third item, and prefers the stronger link',
      [],
      [apart('a', 'c'), weaker, stronger],
      'a bc d e f g',
    ],
    ['never joins two groups of a wider pool', ['a', 'b'], [same('c', 'a', 0.6), same('c', 'b', 0.9)], 'a bc d e f g'],
  ])('%s', (_name, fixed, links, expected) => {
    expect(named(groupItems(nodesOf(fixed), links)).join(' ')).toBe(expected);
  });

  test('does not depend on the order of items and links', () => {
    fc.assert(
      fc.property(anyLinks, fc.subarray(ids), fc.infiniteStream(fc.nat()), (links, fixed, random) => {
        const expected = named(groupItems(nodesOf(fixed), links));
        const shuffled = <T>(list: T[]): T[] =>
          list
            .map((value) => ({ value, at: random.next().value! }))
            .toSorted((one, two) => one.at - two.at)
            .map(({ value }) => value);
        const turned = shuffled(links).map((link) =>
          random.next().value! % 2 ? link : { ...link, a: link.b, b: link.a },
        );
        expect(named(groupItems(shuffled(nodesOf(fixed)), turned))).toEqual(expected);
      }),
    );
  });

  test('puts no two fixed items and no separated pair into one group', () => {
    fc.assert(
      fc.property(anyLinks, fc.subarray(ids), (links, fixed) => {
        for (const group of groupItems(nodesOf(fixed), links)) {
          expect(group.filter((id) => fixed.includes(id)).length).toBeLessThan(2);
          for (const { a, b, kind } of links)
            if (kind === 'apart' && a !== b) expect(group.includes(a) && group.includes(b)).toBe(false);
        }
      }),
    );
  });
});

describe('electRoot', () => {
  type Member = { addedAt?: number; publishedAt?: number | null; root?: string };
  const member = (id: string, { addedAt = 1, publishedAt = 1, root }: Member = {}): RootCandidate => ({
    id,
    added_to_feed_at: new Date(addedAt),
    publish_time: publishedAt === null ? null : new Date(publishedAt),
    duplicate_of: root ?? null,
  });
  test.each<[string, RootCandidate[], string]>([
    ['elects the first item that the feed added', [member('a', { addedAt: 2 }), member('b')], 'b'],
    [
      'elects the item published first if the feed added them at the same time',
      [member('a', { publishedAt: null }), member('b', { publishedAt: 2 })],
      'b',
    ],
    ['elects the smaller id if both times are the same', [member('b'), member('a')], 'a'],
    ['keeps the current root', [member('a', { root: 'b' }), member('b', { addedAt: 9 })], 'b'],
    [
      'the next if the root left',
      [member('b', { root: 'x', addedAt: 3 }), member('a', { root: 'x', addedAt: 4 })],
      'b',
    ],
  ])('%s', (_name, members, root) => {
    expect(electRoot(members).id).toBe(root);
  });
});
