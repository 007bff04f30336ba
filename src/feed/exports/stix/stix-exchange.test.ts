import { expect, test } from 'vitest';
import { evil, reportOf, statement, versionOf } from '../../../../test/support/feed/stix-items.ts';
import { stix } from '../../formats/stix/stix.ts';
import { taxii } from '../../formats/taxii/taxii.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import type { SourceRecord } from '../../model/source-record.ts';
import { toBundle } from './stix-item.ts';

/** Exports items as a bundle and reads it as a source. */
function exchange(item: FeedItem, format = stix): SourceRecord[] {
  const { bundle } = toBundle([versionOf(item, { storedText: statement })]);
  const { records, skipped } = format.parse([{ name: 'bundle.json', bytes: Buffer.from(JSON.stringify(bundle)) }], {
    reliability: 0.6,
  });
  expect(skipped).toEqual([]);
  return records;
}

const report = reportOf('APT29');
const item: FeedItem = {
  ...report,
  source: { ...report.source, publishTime: '2026-01-04T00:00:00.000Z', language: 'en' },
  event: { ...report.event, severity: 'critical' },
  classification: {
    ...report.classification,
    attack: [
      {
        technique: 'T1059',
        subTechnique: 'T1059.001',
        techniqueName: 'PowerShell',
        confidence: 0.9,
        evidenceRef: 'provenance.supportingPassages[0]',
      },
    ],
  },
};

test.each([
  ['a bundle', stix],
  ['a TAXII collection', taxii],
])('keeps what a report states through an exchange by %s', (_, format) => {
  const [record, ...others] = exchange(item, format);
  expect(others).toEqual([]);
  expect(record).toMatchObject({
    title: 'A title',
    publisher: 'Northmere',
    url: 'https://northmere.example/1',
    language: 'en',
    publishTime: '2026-01-04T00:00:00.000Z',
    tlp: 'CLEAR',
    severity: 'critical',
    withdrawn: false,
    iocs: { domains: [{ normalizedValue: 'evil.top', status: 'active', confidence: evil.confidence, ttlDays: 180 }] },
  });
  const { attack, malware, actor, mappings } = record!.classification;
  expect(attack).toMatchObject([{ technique: 'T1059', subTechnique: 'T1059.001' }]);
  expect(malware.map((one) => one.name)).toEqual(['WellMess']);
  expect(actor).toMatchObject([{ name: 'APT29' }]);
  expect(mappings.map(({ framework, id }) => `${framework} ${id}`)).toContain('cve CVE-2024-1234');
  const { bundle } = toBundle([versionOf(item, { storedText: statement })]);
  const ids = (objects: unknown): string[] => (objects as { id: string }[]).map(({ id }) => id).toSorted();
  expect(ids(JSON.parse(record!.originals!))).toEqual(ids(bundle['objects']));
});
