import { expect, test } from 'vitest';
import { convertTask } from '../../sigma/convert/convert-task.ts';

test('an empty text counts as missing on ClickHouse, except where a rule tests for it', () => {
  const rules = `title: t
logsource: {product: acme, service: auth}
detection:
  s: {empty: '', oneOf: ['', x], missing: null, present: '*'}
  condition: s
`;
  const options = { datasets: null, timeColumn: 'at', mappingFolders: [], allowUnknown: true };
  const [rule] = convertTask({ ...options, rules, kind: 'clickhouse' });
  for (const name of ['empty', 'oneOf', 'missing', 'present'])
    expect(rule!.result.query).toContain(`nullIf(toString("${name}"), '') AS "${name}"`);
  const condition = rule!.result.query!.split('WHERE ').at(-1);
  expect(condition).toBe(
    `coalesce("empty", '') = ''
  AND lowerUTF8(coalesce("oneOf", '')) IN (lowerUTF8(''), lowerUTF8('x'))
  AND "missing" IS NULL
  AND "present" IS NOT NULL`,
  );
});
