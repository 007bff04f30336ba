import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { kevCatalogue, kevRow } from '../../../test/support/feed/kev-source.ts';
import { domains, listGroups, pullOnce, stixReport } from '../../../test/support/feed/grouped-reports.ts';

const app = await startApp();

type Story = { kind: 'kev' | 'stix'; content: unknown };

// Chains, a bridge between two groups, a pair too far apart in time, equal keys, and a list that shares too little.
const stories: Story[] = [
  { kind: 'stix', content: stixReport(1, domains(0, 8)) },
  { kind: 'stix', content: stixReport(2, domains(2, 8)) },
  { kind: 'stix', content: stixReport(3, domains(4, 8)) },
  { kind: 'stix', content: stixReport(4, domains(20, 6)) },
  { kind: 'stix', content: stixReport(5, [...domains(20, 6), ...domains(0, 6)]) },
  { kind: 'stix', content: stixReport(6, domains(20, 6), { published: '2024-03-01T00:00:00Z' }) },
  { kind: 'stix', content: stixReport(7, domains(4, 4)) },
  { kind: 'kev', content: kevCatalogue(1, [kevRow(1), kevRow(2)]) },
  { kind: 'kev', content: kevCatalogue(1, [kevRow(2), kevRow(3)]) },
];

test('groups items independently of their order of arrival', async () => {
  let expected: string[][] | undefined;
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(stories, { minLength: stories.length }), async (order) => {
      const org = await app.newOrg();
      for (const { kind, content } of order) await pullOnce(app, org, { kind, content });
      const found = await listGroups(app, org);
      expected ??= found;
      expect(found).toEqual(expected);
    }),
    { numRuns: 8 },
  );
  expect(expected).toContainEqual(['Report 1', 'Report 2', 'Report 3', 'Report 4', 'Report 5']);
});

test('ignores a value that has become too common, whenever it became so', async () => {
  // Sixty lists share half of their indicators, so these are no longer rare. Only pairs of lists also share the other half.
  const lists = Array.from({ length: 60 }, (_, index) => ({
    number: index + 1,
    values: [...domains(0, 6), ...domains(1_000 + Math.floor(index / 2) * 10, 6)],
  }));
  const partitions = [];
  for (const sizes of [[60], [10, 50], [49, 1, 1, 9]]) {
    const org = await app.newOrg();
    let from = 0;
    for (const size of sizes) {
      const part = lists.slice(from, from + size);
      from += size;
      const objects = part.flatMap(
        ({ number, values }) => (stixReport(number, values) as { objects: object[] }).objects,
      );
      await pullOnce(app, org, { kind: 'stix', content: { type: 'bundle', id: `bundle--${from}`, objects } });
    }
    partitions.push(await listGroups(app, org));
  }
  for (const found of partitions) expect(found).toEqual(partitions[0]);
  // Half of the smaller list is rare and shared, which is below the threshold.
  expect(partitions[0]!.every((group) => group.length === 1)).toBe(true);
});
