import { expect, test } from 'vitest';
import { at, itemOf } from '../../../test/support/feed/stix-items.ts';
import { misp } from '../formats/misp/misp.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import type { SourceRecord } from '../model/source-record.ts';
import { indicatorStatuses } from '../model/vocabulary.ts';
import { renderMispEvent } from './misp-event.ts';

const indicatorOf = (type: string, value: string, more: Partial<Indicator> = {}): Indicator => ({
  type,
  value,
  normalizedValue: value,
  status: 'active',
  confidence: 0.6,
  ttlDays: 30,
  ...more,
});
/** Exports an item as a MISP event and reads the event as a source. */
function exchange(item: FeedItem): SourceRecord {
  const bytes = Buffer.from(JSON.stringify(renderMispEvent(item).event));
  const { records, skipped } = misp.parse([{ name: 'event.json', bytes }], { reliability: 0.6 });
  expect(skipped).toEqual([]);
  return records[0]!;
}
const listValues = ({ iocs }: SourceRecord): unknown[] =>
  Object.values(iocs)
    .flat()
    .map(({ type, normalizedValue }) => [type, normalizedValue]);

test.each([
  ['process_name', 'dropper.exe'],
  ['command_line', 'dropper.exe --install C:\\temp'],
  ['cert_serial', '0a1b2c3d4e5f'],
  ['imei', '490154203237518'],
  ['file_name', 'invoice.exe'],
  ['file_path', '<user>\\AppData\\a.exe'],
  ['domain', 'evil.top'],
  ['sha256', 'ab'.repeat(32)],
  ['cert_sha1', 'cd'.repeat(20)],
  ['aws_account', '123456789012'],
  ['aws_arn', 'arn:aws:iam::123456789012:user/a'],
  ['azure_tenant', '6f9619ff-8b86-d011-b42d-00cf4fc964ff'],
  ['azure_app', '6f9619ff-8b86-d011-b42d-00cf4fc964f0'],
  ['gcp_project', 'evil-project-7'],
  ['bucket', 'evil-bucket-7'],
  ['android_package', 'com.evil.app'],
  ['ios_bundle', 'com.evil.app'],
])('keeps a %s through an exchange of events', (type, value) => {
  const record = exchange(itemOf([indicatorOf(type, value)]));
  expect(listValues(record)).toEqual([[type, value]]);
  expect(Object.values(record.iocs).flat()).toMatchObject([{ status: 'active', confidence: 0.6 }]);
});

test('keeps what an event states of the report', () => {
  const item = itemOf([]);
  const name = (text: string) => ({ name: text, confidence: 0.9, aliases: [] });
  const record = exchange({
    ...item,
    source: { ...item.source, tlp: 'AMBER+STRICT', publishTime: '2026-01-04T00:00:00.000Z' },
    event: { ...item.event, severity: 'critical' },
    classification: {
      ...item.classification,
      attack: [
        {
          technique: 'T1059',
          subTechnique: 'T1059.001',
          techniqueName: 'PowerShell',
          confidence: 0.9,
          evidenceRef: 'provenance.supportingPassages[0]',
        },
      ],
      malware: [name('WellMess'), name('Mimikatz')],
      actor: [name('APT29')],
      mappings: [
        { framework: 'observable:tool', id: 'Mimikatz', confidence: 0.9 },
        { framework: 'cve', id: 'CVE-2024-1234', confidence: 0.9 },
        { framework: 'cwe', id: 'CWE-79', confidence: 0.9 },
        { framework: 'observable:attack-pattern', id: 'T1417', confidence: 0.9 },
        { framework: 'observable:target-sector', id: 'energy', confidence: 0.9 },
        { framework: 'observable:tlsh', id: `T1${'E5'.repeat(35)}`, confidence: 0.9 },
        { framework: 'observable:named pipe', id: '\\\\.\\pipe\\frost', confidence: 0.9 },
        { framework: 'observable:whois-registrant-email', id: 'reg@evil.top', confidence: 0.9 },
        { framework: 'observable:target-region', id: 'Ukraine', confidence: 0.9 },
      ],
    },
  });
  expect(record).toMatchObject({
    title: 'A title',
    publisher: 'Northmere',
    url: 'https://northmere.example/1',
    publishTime: '2026-01-04T00:00:00.000Z',
    modifiedAt: at,
    tlp: 'AMBER+STRICT',
    severity: 'critical',
    withdrawn: false,
  });
  const { attack, malware, actor, mappings } = record.classification;
  expect(attack).toMatchObject([{ subTechnique: 'T1059.001' }]);
  expect(malware.map((one) => one.name).toSorted()).toEqual(['Mimikatz', 'WellMess']);
  expect(actor).toMatchObject([{ name: 'APT29' }]);
  expect(mappings.map(({ framework, id }) => `${framework} ${id}`).toSorted()).toEqual([
    'cve CVE-2024-1234',
    'cwe CWE-79',
    'mitre-attack-tactic TA0002',
    'observable:attack-pattern T1417',
    'observable:named pipe \\\\.\\pipe\\frost',
    'observable:target-region Ukraine',
    'observable:target-sector energy',
    `observable:tlsh T1${'E5'.repeat(35)}`,
    'observable:tool Mimikatz',
    'observable:whois-registrant-email reg@evil.top',
  ]);
});

test.each(indicatorStatuses)('keeps that an indicator is %s', (status) => {
  const publishTime = '2025-06-01T00:00:00.000Z';
  const item = itemOf([indicatorOf('domain', 'evil.top', { status })]);
  const record = exchange({ ...item, source: { ...item.source, publishTime } });
  const [domain] = record.iocs.domains;
  if (status === 'expired') expect(domain!.ttlDays).toBe(30);
  else expect(domain!.status).toBe(status);
});

test('withdraws the event of a retracted item', () => {
  const item = itemOf([indicatorOf('domain', 'evil.top')]);
  expect(exchange({ ...item, event: { ...item.event, status: 'retracted' } })).toMatchObject({
    withdrawn: true,
    iocs: { domains: [{ status: 'revoked' }] },
  });
});

test('finds nothing new in the description of an exchanged event', () => {
  const abstract = 'The Emotet loader runs update.exe, contacts evil.top and moves by remote desktop, as analysts say.';
  const item = itemOf([indicatorOf('domain', 'evil.top')]);
  const record = exchange({ ...item, event: { ...item.event, title: 'A flaw that Emotet uses' }, abstract });
  expect(record.abstract).toBe(abstract);
  expect(listValues(record)).toEqual([['domain', 'evil.top']]);
  expect(record.classification).toMatchObject({ malware: [], attack: [] });
});
