import { expect, test } from 'vitest';
import { evil, itemOf, objectsOf, override, versionOf } from '../../../../test/support/feed/stix-items.ts';
import { listStixViolations } from '../../../../test/support/feed/stix-standard.ts';
import type { Indicator } from '../../model/item.schema.ts';
import type { DatedOverride } from '../../items/snapshot/apply-overrides.ts';
import { toBundle } from './stix-item.ts';

test.each(['CVE-2024-1234', 'advisory-7'])('references %s under the name of its issuer', (externalId) => {
  const objects = objectsOf(versionOf({ ...itemOf([]), externalId }));
  const source = { source_name: 'Blog' };
  const cve = { source_name: 'cve', external_id: externalId };
  const url = 'https://northmere.example/1';
  expect(objects.find(({ type }) => type === 'report')!['external_references']).toEqual([
    ...(externalId === 'advisory-7' ? [{ ...source, url, external_id: externalId }] : [{ ...source, url }, cve]),
    { source_name: 'tocsin', external_id: 'url:northmere.example/1' },
  ]);
  expect(listStixViolations(objects)).toEqual([]);
});

test.each(['expired', 'revoked'] as const)(
  'revokes an indicator overridden as %s, and removes the end of one overridden as active',
  (status) => {
    const exportIndicator = (sharedStatus: Indicator['status'], overrides: DatedOverride[]) =>
      objectsOf(versionOf(itemOf([{ ...evil, status: sharedStatus }]), { overrides })).find(
        ({ type }) => type === 'indicator',
      )!;
    const overrideStatus = (ownStatus: Indicator['status'], day: number) =>
      override({ indicators: [{ type: 'domain', value: 'evil.top', status: ownStatus }] }, day);
    expect(exportIndicator('active', [overrideStatus(status, 7)])).toMatchObject({
      revoked: true,
      modified: '2026-01-07T00:00:00.000010Z',
    });
    const restored = exportIndicator(status, [overrideStatus(status, 7), overrideStatus('active', 8)]);
    expect(restored['revoked']).toBeUndefined();
    expect(restored['valid_until']).toBeUndefined();
    expect(restored.modified).toBe('2026-01-08T00:00:00.000010Z');
  },
);

test('leaves out false positives, also those of an override', () => {
  const harmless = { ...evil, value: 'good.top', normalizedValue: 'good.top', status: 'false_positive' as const };
  const indicators = [{ type: 'domain', value: 'evil.top', status: 'false_positive' as const }];
  const exported = (overrides: DatedOverride[]) =>
    objectsOf(versionOf(itemOf([evil, harmless]), { overrides })).flatMap(({ type, name }) =>
      type === 'indicator' ? [name] : [],
    );
  expect(exported([])).toEqual(['evil.top']);
  expect(exported([override({ indicators })])).toEqual([]);
  expect(toBundle([versionOf(itemOf([harmless]))]).unsupported).toMatchObject({ 'iocs.status': 1 });
});
