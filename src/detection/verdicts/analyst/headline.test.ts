import { describe, expect, test } from 'vitest';
import { candidatesOf, definitionOf, detectionTexts } from '../../../../test/support/detection/analysis-examples.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import type { QueryRow } from '../../siem/connector.ts';
import { createAnalystVerdict } from './analyst.ts';

const candidate = (...rows: QueryRow[]): Candidate =>
  candidatesOf(
    rows.map((row, n) => ({ _id: `e${n}`, host: 'FS-02', ...row })),
    definitionOf('custom', { entityField: 'host' }),
  )[0]!;

const headlineOf = (template: string | null, ...rows: QueryRow[]): string => {
  const detection = { ...detectionTexts, name: 'Recovery removed', headline: template };
  return createAnalystVerdict(candidate(...rows), detection).headline;
};

const template = 'Shadow copies deleted on {{host}} by {{User.Name}}';

describe('a headline template', () => {
  test.each<[string, QueryRow[], string]>([
    [template, [{ user: { name: 'backup-svc' } }], 'Shadow copies deleted on FS-02 by backup-svc'],
    [template, [{ user: { name: 'a' } }, { user: { name: 'a' } }], 'Shadow copies deleted on FS-02 by a'],
    [template, [{ user: { name: 'a' } }, { user: { name: 'b' } }], 'Shadow copies deleted on FS-02 by a and 1 other'],
    [
      template,
      [{}, ...['a', 'b', 'c', 'd'].map((name) => ({ user: { name } }))],
      'Shadow copies deleted on FS-02 by a and 3 others',
    ],
    [template, [{}], 'Shadow copies deleted on FS-02'],
    [template, [{ user: { name: '-' } }], 'Shadow copies deleted on FS-02'],
    ['Deleted by {{user}} on {{host}}', [{}], 'Deleted on FS-02'],
    ['Deleted by the user "{{user}}" on {{host}}', [{}], 'Deleted on FS-02'],
    ['Deleted on {{host}} ({{command}})', [{}], 'Deleted on FS-02'],
    ['Deleted on {{host}}, {{command}}', [{}], 'Deleted on FS-02'],
    ['Port 22 opened on {{entity}}: {{count}} rows', [{}], 'Port 22 opened on FS-02: 1 rows'],
    ['Deleted on {{__proto__}}', [{}], 'Deleted'],
    ['Deleted', [{}], 'Deleted'],
  ])('%s of %j is %s', (text, rows, headline) => {
    expect(headlineOf(text, ...rows)).toBe(headline);
  });

  test('gives way to the default headline where no sentence is left without a field', () => {
    for (const text of [
      '{{user}} deleted copies',
      'Deleted by {{user}} and {{other}}',
      'Deleted by {{user}}, {{host}}',
    ])
      expect(headlineOf(text, { action: 'delete' })).toBe('Recovery removed: host FS-02 (delete)');
  });

  test('cuts a long value between words and leaves out one that cannot be cut', () => {
    const long = `vssadmin.exe ${'/quiet '.repeat(40)}`;
    expect(headlineOf('Ran {{command}} on {{host}}', { command: long })).toMatch(
      /^Ran vssadmin\.exe .{80,110} … on FS-02$/,
    );
    expect(headlineOf('Deleted on {{host}} by {{user}}', { user: 'x'.repeat(400) })).toBe('Deleted on FS-02');
  });
});

test('says what happened without a template', () => {
  const rows = [{ eventName: 'DeleteTrail', user: 'ada', ip: '192.0.2.7', trail: 'main' }];
  expect(headlineOf(null, ...rows)).toBe('Recovery removed: host FS-02 (DeleteTrail from 192.0.2.7)');
  expect(headlineOf(null, {})).toBe('Recovery removed: host FS-02');
});
