import { expect, test } from 'vitest';
import { foldName, toOwnNames } from './entity-names.ts';
import { dropAmbiguous, findStatedAliases } from './stated-aliases.ts';

const find = (fields: Record<string, string>) =>
  findStatedAliases([{ rowId: 'r', time: null, fields }]).map(({ name, alias }) => `${alias} = ${name}`);
const sid = 'S-1-5-21-1004336348-1177238915-682003330-512';

test.each<[string, Record<string, string>, string[]]>([
  ['an account and its address', { 'user.name': 'trn', 'user.email': 't.rehn@a.example' }, ['trn = t.rehn@a.example']],
  ['an account and its SID', { TargetUserName: 'trn', TargetUserSid: sid, SubjectUserName: 'eve' }, [`trn = ${sid}`]],
  ['an address and a SID', { userPrincipalName: 'trn@a.example', user_sid: sid }, [`${sid} = trn@a.example`]],
  ['a host and its long name', { 'host.hostname': 'ws-1', 'host.name': 'WS-1.a.example' }, ['ws-1 = WS-1.a.example']],
  ['different subjects', { 'source.user.name': 'trn', 'target.user.email': 'eve@a.example' }, []],
  ['a display name', { 'user.name': 'Tomas Rehn', 'user.email': 't.rehn@a.example' }, []],
  ['a local account', { 'user.name': 'administrator', 'user.email': 't.rehn@a.example' }, []],
  ['two accounts', { 'user.name': 'trn', user: 'eve', 'user.email': 't.rehn@a.example' }, []],
  ['an opaque ID', { 'user.id': '00u1x', 'user.email': 't.rehn@a.example' }, []],
  ['an account of the system', { TargetUserName: 'trn', TargetUserSid: 'S-1-5-18' }, []],
  ['another host', { 'host.hostname': 'ws-1', 'host.name': 'ws-12.a.example' }, []],
  ['an absent value', { 'user.name': '-', 'user.email': 't.rehn@a.example' }, []],
])('%s', (_, fields, expected) => {
  expect(find(fields)).toEqual(expected);
});

test('an alias of two people joins neither, and their SIDs are no second people', () => {
  const link = (name: string, source: string) => ({
    a: foldName({ type: 'user', value: name }),
    b: foldName({ type: 'user', value: 'ada' }),
    source,
  });
  const own = toOwnNames([]);
  const [one, two, byId] = [link('ada@one.example', 'log'), link('ada@two.example', 'log'), link(sid, 'log')];
  expect(dropAmbiguous([one, byId], own)).toEqual([one, byId]);
  expect(dropAmbiguous([one, two, byId], own)).toEqual([byId]);
  const stated = { ...two, source: 'person' };
  expect(dropAmbiguous([one, stated], own)).toEqual([one, stated]);
});
