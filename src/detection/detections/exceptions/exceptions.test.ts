import { expect, test } from 'vitest';
import { findExceptionWarnings } from './exceptions.ts';

const finding = (entity: string, ...ips: string[]) => ({
  entity,
  facts: {},
  rows: ips.map((ip) => ({ rowId: ip, time: null, fields: { source_ip: ip } })),
});
const anything = { entity: null, field: null, value: null, list: null, conditions: [] };
const findings = [finding('svc-backup', '192.0.2.1'), finding('ada', '192.0.2.1', '198.51.100.1')];

test.each([
  [{ entity: 'SVC-*' }, undefined],
  [{ field: 'source_ip', value: '192.0.2.*' }, undefined],
  [{ entity: 'svc-bakcup' }, ['entity', /latest findings is about svc-bakcup; did you mean svc-backup\?/]],
  [{ field: 'sourceip', value: '192.0.2.1' }, ['field', /field sourceip; did you mean source_ip\?/]],
  [{ entity: 'ada', field: 'source_ip', value: '192.0.2.*' }, ['value', /Every row/]],
])('%j', (exception, warning) => {
  const [found] = findExceptionWarnings({ ...anything, ...exception }, findings);
  if (warning === undefined) expect(found).toBeUndefined();
  else
    expect(found).toMatchObject({
      code: 'matches_nothing',
      field: warning[0],
      detail: expect.stringMatching(warning[1]!),
    });
});

test('warns about nothing before the detection found something', () => {
  expect(findExceptionWarnings({ ...anything, entity: 'x' }, [])).toEqual([]);
});
