import { siemKinds } from '../../siem/connectors/registry.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestFolder } from '../../../../test/support/detection/log-store.ts';
import { matchesEvent, openEvents } from '../../../../test/support/detection/sigma/sigma-events.ts';
import type { Expression } from '../../matching/expression.ts';
import { convertTask } from './convert-task.ts';

const pod = (name: string, spec: object): Record<string, unknown> => ({
  n: name,
  verb: 'create',
  objectRef: { resource: 'pods', name },
  user: { username: name },
  requestObject: { spec },
});
const withCapabilities = (capabilities: object): object => ({ name: 'c', securityContext: { capabilities } });
const events = [
  pod('plain', { containers: [{ name: 'c', image: 'nginx' }], volumes: [{ name: 'v', configMap: { name: 'm' } }] }),
  pod('adds', { containers: [{ name: 'first' }, withCapabilities({ add: ['SYS_ADMIN'] })] }),
  pod('init', { containers: [{ name: 'c' }], initContainers: [withCapabilities({ add: ['NET_ADMIN'] })] }),
  pod('mount', { containers: [{ name: 'c' }], volumes: [{ name: 'v', hostPath: { path: '/var/lib' } }] }),
];

const engines: Awaited<ReturnType<typeof openEvents>>[] = [];
beforeAll(async () => void engines.push(await openEvents(createTestFolder(), { kubernetes: events })));
afterAll(() => Promise.all(engines.map(({ close }) => close())));

const convert = (search: string, kind: (typeof siemKinds)[number] = 'local') => {
  const rules = `title: t\nlogsource: {product: kubernetes, service: audit}\ndetection: {s: {verb: create, ${search}}, condition: s}\n`;
  const datasets = [{ name: 'kubernetes', columns: ['verb', 'objectRef.resource'] }];
  const time = { timeColumn: kind === 'local' ? '_time' : 'at', mappingFolders: [] };
  return convertTask({ rules, kind, datasets: kind === 'local' ? datasets : null, ...time })[0]!;
};

test.each([
  [`capabilities: '*'`, ['adds', 'init']],
  ['capabilities|exists: true', ['adds', 'init']],
  ['capabilities: null', ['mount', 'plain']],
  ['capabilities|contains: SYS_ADMIN', ['adds']],
  ['capabilities: SYS_ADMIN', ['adds']],
  ['capabilities|startswith: NET_', ['init']],
  [`capabilities|re: 'SYS_|NET_'`, ['adds', 'init']],
  [`hostPath: '*'`, ['mount']],
  ['hostPath|startswith: /var/', ['mount']],
])('{verb: create, %s} matches only pods that have the field', async (search, expected) => {
  const { result, ruleQuery } = convert(search);
  const rows = await engines[0]!.run(result.query!);
  expect(rows.map((row) => row['user.username']).toSorted()).toEqual(expected);
  const names = new Map(ruleQuery!.fields.map((field) => [field.name, field.names[0]!]));
  expect(names.get(search.split(/[:|]/)[0]!)).toBe('requestObject.spec');
  const renamed = JSON.parse(
    JSON.stringify(ruleQuery!.where).replaceAll(
      /"field":"(\w+)"/g,
      (_all, name: string) => `"field":"${names.get(name)!}"`,
    ),
  ) as Expression;
  expect(events.filter((event) => matchesEvent(renamed, event)).map(({ n }) => n)).toEqual(
    events.map(({ n }) => n).filter((n) => expected.includes(String(n))),
  );
});

test('every query language tests the key', () => {
  for (const kind of siemKinds)
    expect([kind, convert(`capabilities: '*'`, kind).result.query]).toEqual([
      kind,
      expect.stringMatching(/capabilities/),
    ]);
});
