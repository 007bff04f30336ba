import { expect, test } from 'vitest';
import { checkPassages, parseList } from '../../../../test/support/feed/csv-lists.ts';
import { createDateReader } from './list-dates.ts';

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
