import { expect, test } from 'vitest';
import { compilePhrases, listAnchors } from './phrases.ts';

const cues: Record<string, string[]> = { people: ['attacker~', 'threat actor~'] };
const resolve = (id: string): string[] => cues[id]!;

test.each<[phrase: string, yes: string[], no: string[]]>([
  ['steal cookies', ['They Steal cookies.'], ['They steal the cookies.', 'They steal cookiesmith.']],
  ['steal/harvest data', ['harvest data'], ['stealing data']],
  ['log(ged/ging) (in/on to)', ['logged in', 'logging on to'], ['log in']],
  ['the? server', ['the server', 'a server'], ['servers']],
  ['attack~', ['attacks', 'attacked', 'attacking'], ['attacker']],
  ['phish*', ['phishing', 'phish'], ['spearphish']],
  ['e-mail', ['email', 'e-mail', 'e mail'], ['emails']],
  ['<people> used', ['attackers used', 'The threat actor used'], ['actor used']],
  ['drop .. file', ['drop a small file', 'drop file'], ['drop one of the last small file']],
  ['drop … file', ['drop one of the last small files and a file'], ['drop it! A file']],
  ['# hosts', ['1,200 hosts'], ['hosts']],
  ['!not used', ['was used'], ['was not used']],
  ['used !by', ['used in'], ['used by them']],
  ['^how to', ['How to start', '1. How to start'], ['This is how to start']],
  ['<Name> said', ['Foobar said', 'at Foobar said'], ['they said', 'The said']],
])('%s', (phrase, yes, no) => {
  for (const script of ['english', undefined] as const) {
    const pattern = compilePhrases([phrase], { resolve, script });
    expect(yes.filter((text) => !pattern.test(text))).toEqual([]);
    expect(no.filter((text) => pattern.test(text))).toEqual([]);
  }
});

test('joins the words of a language without spaces', () => {
  const pattern = compilePhrases(['攻撃 … サーバ'], { script: 'unspaced' });
  expect(pattern.test('彼らは攻撃により社内サーバを止めた')).toBe(true);
});

test('lists the beginnings of the rarest word that must occur', () => {
  expect(listAnchors('<people> … register~ .. the? domain~', resolve)).toEqual(['regi']);
  expect(listAnchors('vm-evasion', resolve)).toEqual(['evas']);
  expect(listAnchors('c2', resolve)).toBeUndefined();
});

test('compares a long text without a match in linear time', () => {
  const pattern = compilePhrases(['<people> … used … <people> … files'], { resolve, script: 'english' });
  expect(pattern.test('attackers used '.repeat(5_000))).toBe(false);
  // With two ways to read each `_`, this would not end.
  expect(compilePhrases(['a .. means'], { script: 'english' }).test(`a ${'_'.repeat(200)} x`)).toBe(false);
});
