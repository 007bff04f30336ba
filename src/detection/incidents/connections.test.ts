import { expect, test } from 'vitest';
import { nameEntity, toOwnNames } from '../entities/entity-names.ts';
import { extractConnections as extract, listSeenSpans } from './connections.ts';

const own = toOwnNames([]);
const extractConnections = (hit: Parameters<typeof extract>[0]) => extract(hit, (raw) => nameEntity(raw, own));

const row = (fields: Record<string, string>, time: string | null = null) => ({ rowId: 'r1', time, fields });
const show = (entity: string, entityType: string, fields: Record<string, string>): string[] =>
  extractConnections({ entity, entityType, rows: [row(fields)] }).map(
    ({ kind, type, value }) => `${kind} ${type} ${value}`,
  );

test('finds the entity, and users, hosts, addresses, indicators, sessions and processes in any role', () => {
  const fields = {
    user: 'Ada',
    target_user: 'bob',
    'host.name': 'ws-1',
    src_ip: '198.51.100.7',
    'userIdentity.sessionId': 's-1',
    TargetLogonId: '0x3e7a1',
    ParentProcessGuid: '{A-1}',
    domain: 'evil.example',
    sha256: 'a'.repeat(64),
  };
  expect(show('ada', 'user', fields)).toEqual([
    'entity user ada',
    'entity user bob',
    'entity host ws-1',
    'entity ip 198.51.100.7',
    'session session s-1',
    'session session 0x3e7a1',
    'process process {A-1}',
    'indicator domain evil.example',
    `indicator hash ${'a'.repeat(64)}`,
  ]);
});

test('reads lists of values, except of names that may contain commas', () => {
  const fields = {
    source_ip: '198.51.100.7, 198.51.100.8',
    addresses: '["192.0.2.1","192.0.2.2"]',
    hosts: 'ws-1, ws-2, ws-…',
    user_names: 'Lovelace, Ada',
    users: 'ada@one.example, bob@two.example',
  };
  expect(show('zoe', 'user', fields)).toEqual([
    'entity user zoe',
    'entity ip 198.51.100.7',
    'entity ip 198.51.100.8',
    'entity ip 192.0.2.1',
    'entity ip 192.0.2.2',
    'entity host ws-1',
    'entity host ws-2',
    'entity user ada@one.example',
    'entity user bob@two.example',
  ]);
});

test('a truth value names no host, user or session', () => {
  const fields = { managed_device: 'false', 'user.is_admin': 'True', has_session: 'true', device: 'ws-1' };
  expect(show('ada', 'user', fields)).toEqual(['entity user ada', 'entity host ws-1']);
});

test('a local account is one of its machine, if the row shows which', () => {
  expect(show('root', 'user', { user: 'root', 'host.name': 'web-1' })).toEqual([
    'entity user web-1\\root',
    'entity host web-1',
  ]);
  expect(show('root', 'user', { user: 'root' })).toEqual([]);
  expect(show('root', 'user', { user: 'root', 'host.name': 'web-1', source_host: 'web-2' })).toEqual([
    'entity host web-1',
    'entity host web-2',
  ]);
});

test('lists every cell of a value, whatever its case', () => {
  const [first] = extractConnections({
    entity: 'ada',
    entityType: 'user',
    rows: [row({ user: 'ADA', target: 'ada' })],
  });
  expect(first!.cells).toEqual([
    { rowId: null, field: null },
    { rowId: 'r1', field: 'user' },
    { rowId: 'r1', field: 'target' },
  ]);
});

test('leaves out what identifies nobody', () => {
  const fields = {
    user: 'SYSTEM',
    src_ip: '127.0.0.1',
    dest_ip: '-',
    userAgent: 'curl/8',
    userDomain: 'CORP',
    userIdentity_type: 'IAMUser',
    domain: 'CORP',
    country: 'SE',
    process: 'powershell.exe',
    count: '7',
  };
  expect(show('ada', 'user', fields)).toEqual(['entity user ada']);
});

test('a hit was seen in the time of its rows, else in its window, and where it was seen last', () => {
  const at = (text: string): Date => new Date(`2026-03-02T${text}:00Z`);
  const times = { windowFrom: at('01:00'), windowTo: at('02:00'), lastSeenAt: at('02:00') };
  const span = (from: string, to: string) => ({ from: at(from).getTime(), to: at(to).getTime() });
  expect(listSeenSpans({ rows: [], ...times })).toEqual([span('01:00', '02:00')]);
  const rows = [row({}, '2026-03-02T01:20:00Z'), row({}, '2026-03-02T01:10:00Z')];
  expect(listSeenSpans({ rows, ...times, lastSeenAt: at('09:00') })).toEqual([
    span('01:10', '01:20'),
    span('09:00', '09:00'),
  ]);
});
