import { expect, test } from 'vitest';
import { checkPassages, parseList } from '../../../../test/support/feed/csv-lists.ts';
import { createDateReader } from '../parse-date.ts';

test.each([
  [['11/27/2026', '1/2/2026'], '1/2/2026', '2026-01-02T00:00:00.000Z'],
  [['27/11/2026', '1/2/2026'], '1/2/2026', '2026-02-01T00:00:00.000Z'],
  [['11/27/2026 3:45:10 PM'], '11/27/2026 3:45:10 PM', '2026-11-27T15:45:10.000Z'],
  [['11/27/2026, 12:05 AM'], '11/27/2026, 12:05 AM', '2026-11-27T00:05:00.000Z'],
  [['11/27/2026 15:45:10.123'], '11/27/2026 15:45:10.123', '2026-11-27T15:45:10.000Z'],
  [['1.2.2026'], '1.2.2026', '2026-02-01T00:00:00.000Z'],
  // Both orders fit, or the column contradicts itself.
  [['1/2/2026', '3/4/2026'], '1/2/2026', undefined],
  [['27/11/2026', '11/27/2026'], '11/27/2026', undefined],
  [['11/27/2026', '2026-11-27T10:00:00Z'], '2026-11-27T10:00:00Z', '2026-11-27T10:00:00.000Z'],
])('of a column with %j, reads %s as %s', (column, text, expected) => {
  expect(createDateReader(column, false)(text)).toBe(expected);
});

test('reads an export of Sentinel: dates of the US, addresses, expirations and inactive rows', () => {
  const parsed = parseList(
    `TimeGenerated [UTC],Active,Action,NetworkIP,NetworkDestinationIP,DomainName,ConfidenceScore,ExpirationDateTime [UTC],ValidFrom
"11/27/2026, 9:00:00.000 AM",true,alert,198.51.101.23,,,80,"1/5/2027, 9:00:00.000 AM","11/26/2026, 9:00:00.000 AM"
"11/27/2026, 9:00:00.000 AM",false,alert,,203.0.113.9,,80,"1/15/2027, 9:00:00.000 AM","11/26/2026, 9:00:00.000 AM"
"11/27/2026, 9:00:00.000 AM",true,alert,,,evil-host.top,80,"1/15/2027, 9:00:00.000 AM","11/26/2026, 9:00:00.000 AM"
"11/27/2026, 9:00:00.000 AM",false,alert,,,evil-host.top,80,"1/15/2027, 9:00:00.000 AM","11/26/2026, 9:00:00.000 AM"
"11/27/2026, 9:00:00.000 AM",true,allow,,,good-host.top,80,"1/15/2027, 9:00:00.000 AM","11/26/2026, 9:00:00.000 AM"
`,
  );
  checkPassages(parsed);
  const { ipv4, domains } = parsed.records[0]!.iocs;
  expect([...ipv4, ...domains]).toMatchObject([
    { normalizedValue: '198.51.101.23', status: 'active', firstSeen: '2026-11-26T09:00:00.000Z', ttlDays: 40 },
    { normalizedValue: '203.0.113.9', status: 'revoked' },
    { normalizedValue: 'evil-host.top', status: 'active' },
    { normalizedValue: 'good-host.top', status: 'false_positive' },
  ]);
});

test.each([
  ['IsActive', 'False'],
  ['Revoked', 'true'],
  ['IsDeleted', 'TRUE'],
])('revokes rows with %s %s', (column, value) => {
  const { ipv4 } = parseList(`ObservableValue,${column}\n198.51.101.23,${value}\n203.0.113.9,\n`).records[0]!.iocs;
  expect(ipv4).toMatchObject([{ status: 'revoked' }, { status: 'active' }]);
});

test.each([
  ['value,itype,confidence,date_first,date_last,expiration_ts', '2026-11-01,2026-11-20,2027-01-01', 'mal_ip,85'],
  [
    'indicator,type,malicious_confidence,published_date,last_updated,valid_until',
    '1793491200,1795132800,2027-01-01',
    'ip_address,high',
  ],
  [
    'NetworkIP,ThreatType,ConfidenceScore,Detected,Updated,ExpirationDateTime [UTC]',
    '2026-11-01,2026-11-20,2027-01-01',
    'Botnet,85',
  ],
])('reads confidence and dates of platforms: %s', (header, dates, typed) => {
  const parsed = parseList(`${header},actors,x\n185.220.92.5,${typed},${dates},"FANCYBEAR, Lazarus Group",y\n`);
  const [record] = parsed.records;
  expect(record!.iocs.ipv4).toMatchObject([
    {
      normalizedValue: '185.220.92.5',
      confidence: 0.85,
      firstSeen: '2026-11-01T00:00:00.000Z',
      lastSeen: '2026-11-20T00:00:00.000Z',
      ttlDays: 42,
    },
  ]);
  expect(record!.classification.actor).toMatchObject([{ name: 'APT28' }, { name: 'Lazarus Group' }]);
});

test.each([
  ['Technique ID', '"T1566.001, T1059"', ['T1566.001', 'T1059']],
  ['MITRE ATT&CK', 'T1059 - Command and Scripting Interpreter', ['T1059']],
  ['attack_ids', 't1190;T1486', ['T1190', 'T1486']],
  ['technique', 'Phishing', []],
])('reads the techniques of a column %s: %s', (header, cell, ids) => {
  const parsed = parseList(`ip,${header}\n198.51.101.23,${cell}\n198.51.101.24,${cell}\n`);
  checkPassages(parsed);
  const { classification, attackPath, storedText, passages } = parsed.records[0]!;
  expect(classification.attack.map(({ technique, subTechnique }) => subTechnique ?? technique)).toEqual(ids);
  for (const { evidenceRef } of classification.attack) {
    const { start, end } = passages[Number(/\d+/.exec(evidenceRef)?.[0])]!;
    expect(storedText.slice(start, end)).toContain('198.51.101.23');
  }
  expect(attackPath.length > 0).toBe(ids.length > 0);
});

test('reads techniques of JSON entries, and keeps those of other matrices', () => {
  const entries = [{ indicator: '198.51.101.23', attack_ids: ['T1566', 'T0886'] }, { indicator: 'evil-host.top' }];
  const [record] = parseList(JSON.stringify(entries), 'list.json').records;
  expect(record!.classification.attack).toMatchObject([{ technique: 'T1566' }]);
  expect(record!.classification.mappings).toContainEqual(
    expect.objectContaining({ framework: 'observable:attack-pattern', id: 'T0886' }),
  );
});
