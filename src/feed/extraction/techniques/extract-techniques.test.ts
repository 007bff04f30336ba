import { expect, test } from 'vitest';
import { extractTechniques } from './extract-techniques.ts';
import { findSentences } from '../text/sentence-spans.ts';

const read = (text: string): Record<string, string> =>
  Object.fromEntries(extractTechniques(text).map(({ technique, by }) => [technique.id, by]));

test('an id is sure and points at its sentence', () => {
  const text = 'It began with mail. The victim opened an attachment [T1566.001]. Then it slept.';
  const [found] = extractTechniques(text);
  expect(found).toMatchObject({ technique: { id: 'T1566.001' }, by: 'id', confidence: 0.95 });
  expect(text.slice(found!.sentence.start, found!.sentence.end)).toBe('The victim opened an attachment [T1566.001].');
});

test('a revoked id answers with its successor, an unknown one with nothing', () => {
  expect(Object.keys(read('Seen: T1086 and T1999.'))).toEqual(['T1059.001']);
  expect(read('tags: [attack.persistence, attack.t1547.001]')['T1547.001']).toBe('id');
});

test('a name counts as ATT&CK prints it, not as prose does', () => {
  expect(read('The actor relied on Process Hollowing here.')['T1055.012']).toBe('name');
  expect(read('They sell data from local system shops and valid accounts.')['T1078']).not.toBe('name');
});

test('a sentence in other words is recognised', () => {
  expect(
    read('The malware creates a scheduled task named Updater to run its payload every hour and keep persistence.')[
      'T1053.005'
    ],
  ).toBe('sentence');
  expect(
    read(
      'It copies itself to the Run registry key HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run to start at logon.',
    )['T1547.001'],
  ).toBe('sentence');
});

test('a text about something else has no technique', () => {
  expect(
    read('The museum opens at nine. Tickets cost ten euros and children enter for free on Sunday afternoons.'),
  ).toEqual({});
});

test('sentences are bounded, trimmed and in order', () => {
  const text = `${'word '.repeat(1_000)}. Next one is here.\n\n  Another line of text \n`;
  const spans = findSentences(text);
  for (const [index, { start, end }] of spans.entries()) {
    expect(end - start).toBeLessThanOrEqual(600);
    expect(text.slice(start, end)).toBe(text.slice(start, end).trim());
    if (index > 0) expect(start).toBeGreaterThanOrEqual(spans[index - 1]!.end);
  }
  expect(text.slice(spans.at(-1)!.start, spans.at(-1)!.end)).toBe('Another line of text');
});
