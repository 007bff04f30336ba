import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  evil,
  itemOf,
  objectsOf,
  override,
  reportOf,
  statement,
  versionOf,
} from '../../../../test/support/feed/stix-items.ts';
import { listStixViolations } from '../../../../test/support/feed/stix-standard.ts';
import type { Indicator } from '../../model/item.schema.ts';
import { readShippedNameTable } from '../../reference-data/name-table.ts';
import { indicatorStatuses, itemStatuses, severities, tlps } from '../../model/vocabulary.ts';
import { toBundle } from './stix-item.ts';
import { indicatorTypes, type IndicatorType } from '../../model/values/indicator-types.ts';

const attackTable = new URL('../../reference-data/shipped/attack.tsv', import.meta.url);

const indicator = fc.record({
  type: fc.constantFrom(...(Object.keys(indicatorTypes) as IndicatorType[])),
  value: fc.string({ minLength: 1, unit: 'grapheme' }),
  status: fc.constantFrom('active' as const, 'expired' as const, 'revoked' as const, 'false_positive' as const),
  confidence: fc.integer({ min: 0, max: 100 }).map((n) => n / 100),
  ttlDays: fc.integer({ min: 0, max: 730 }),
});
const indicators = fc
  .uniqueArray(indicator, { maxLength: 20, selector: ({ type, value }) => `${type} ${value}` })
  .map((list) => list.map((one): Indicator => ({ ...one, normalizedValue: one.value })));

/** Overrides of some of the indicators. */
const overrideLists = fc
  .array(
    fc.record({
      severity: fc.option(fc.constantFrom(...severities)),
      status: fc.option(fc.constantFrom(...itemStatuses)),
      every: fc.integer({ min: 1, max: 3 }),
      indicatorStatus: fc.constantFrom(...indicatorStatuses),
    }),
    { maxLength: 3 },
  )
  .map((drafts) => (list: Indicator[]) => {
    return drafts.map(({ severity, status, every, indicatorStatus }, index) => {
      const some = list.filter((_one, place) => place % every === 0);
      const indicators = some.map((one) => ({ type: one.type, value: one.normalizedValue, status: indicatorStatus }));
      return override({ severity, status, indicators }, 7 + index);
    });
  });

test('produces valid objects with stable bytes for any item', () => {
  fc.assert(
    fc.property(indicators, fc.constantFrom(...tlps), overrideLists, (list, tlp, createOverrides) => {
      const one = versionOf(itemOf(list, tlp), { overrides: createOverrides(list) });
      expect(listStixViolations(objectsOf(one))).toEqual([]);
      expect(JSON.stringify(toBundle([structuredClone(one)]))).toBe(JSON.stringify(toBundle([one])));
    }),
    { numRuns: 200 },
  );
});

test('increases `modified` whenever the bytes of an object change', () => {
  const before = objectsOf(versionOf(itemOf([])));
  const changed = { ...itemOf([]), lastUpdated: '2026-01-06T09:00:00.000Z', version: 2 };
  for (const later of [
    versionOf(changed),
    versionOf(itemOf([]), { overrides: [override({ status: 'retracted' })] }),
    versionOf(itemOf([]), { overrides: [override({ severity: 'low' })] }),
  ]) {
    const report = objectsOf(later).find(({ type }) => type === 'report')!;
    const known = before.find(({ id }) => id === report.id)!;
    expect(JSON.stringify(report)).not.toBe(JSON.stringify(known));
    expect(report.modified! > known.modified!).toBe(true);
  }
});

test('keeps the object format, whose changes need a new `formatVersion`', () => {
  expect(toBundle([versionOf(reportOf('APT29'), { storedText: statement })])).toMatchSnapshot();
  // The aliases of names, and the names of techniques, come from these lists.
  const sha256 = (list: string): string => createHash('sha256').update(list).digest('hex');
  expect(sha256(readShippedNameTable())).toMatchSnapshot();
  expect(sha256(readFileSync(attackTable, 'utf8'))).toMatchSnapshot();
});

test('keeps the format version out of all times except `modified`', () => {
  const times = objectsOf(versionOf({ ...itemOf([evil]), createdAt: '2026-01-04T09:00:00.000Z' })).flatMap((object) =>
    Object.entries(object).filter(([name, value]) => name !== 'modified' && /^2026-.*Z$/.test(String(value))),
  );
  // The microseconds of the first release, whatever `formatVersion` is now.
  expect(times.filter(([, value]) => !String(value).endsWith('.000002Z'))).toEqual([]);
  const names = new Set(['created', 'published', 'valid_from', 'valid_until']);
  expect(new Set(times.map(([name]) => name))).toEqual(names);
});
