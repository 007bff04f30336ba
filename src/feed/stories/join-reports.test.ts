import { expect, test } from 'vitest';
import { findJoinReasons, type SharedTerm, type StoryReport } from './find-stories.ts';

const report = (change: Partial<StoryReport> = {}): StoryReport => ({
  id: 'a',
  groupId: change.id ?? 'a',
  at: Date.parse('2026-03-02T00:00:00Z'),
  isList: false,
  cves: 1,
  names: 2,
  ...change,
});
const day = 86_400_000;
const base = report();
const other = (change: Partial<StoryReport> = {}): StoryReport => report({ id: 'b', at: base.at + day, ...change });
const term = (kind: SharedTerm['kind'], value: string, change: Partial<SharedTerm> = {}): SharedTerm => ({
  kind,
  value,
  isAddress: false,
  holders: 2,
  ...change,
});
const hash = term('indicator', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
const address = (value: string): SharedTerm => term('indicator', value, { isAddress: true });
const [actor, malware] = [term('actor', 'Sandworm Team'), term('malware', 'Industroyer')];

test.each<[string, StoryReport, SharedTerm[], string[]]>([
  ['one hash', other(), [hash], ['indicator']],
  ['a hash of very many reports', other(), [{ ...hash, holders: 51 }], []],
  ['a hash a month later', other({ at: base.at + 31 * day }), [hash], []],
  ['a hash with a list', other({ isList: true }), [hash], []],
  ['a hash with an overview', other({ names: 12 }), [hash], []],
  ['one address', other(), [address('192.0.2.1')], []],
  ['two addresses', other(), [address('192.0.2.1'), address('192.0.2.2')], ['indicator']],
  ['one address and a family', other(), [address('192.0.2.1'), malware], ['indicator']],
  ['a family alone', other(), [malware], []],
  ['several families alone', other(), [malware, term('malware', 'CaddyWiper')], []],
  ['an actor alone', other(), [actor], []],
  ['an actor and malware', other(), [actor, malware], ['names']],
  ['an actor and malware a week later', other({ at: base.at + 7 * day }), [actor, malware], []],
  ['an actor and malware of many reports', other(), [actor, malware].map((one) => ({ ...one, holders: 30 })), []],
  ['a new CVE', other(), [term('cve', 'CVE-2026-1111')], ['vulnerability']],
  ['a CVE of many', other({ cves: 9 }), [term('cve', 'CVE-2026-1111')], []],
  ['an old CVE', other(), [term('cve', 'CVE-2021-44228')], []],
  ['an old CVE and an actor', other(), [term('cve', 'CVE-2021-44228'), actor], ['vulnerability']],
  ['nothing', other(), [], []],
  ['its group', other({ groupId: 'a', isList: true, at: 0 }), [], ['duplicate']],
])('decides whether %s joins two reports', (_what, two, shared, kinds) => {
  expect(findJoinReasons(base, two, shared).map(({ kind }) => kind)).toEqual(kinds);
  expect(findJoinReasons(two, base, shared)).toEqual(findJoinReasons(base, two, shared));
});
