import { expect, test } from 'vitest';
import { correctText, countWords, listGroups, listParts } from './correct-search.ts';

const known = countWords([
  'Cobalt Strike beacons on a rented host',
  'Ransomware at a bank, and ransomware again',
  'Log4j2 exploited; banks patched',
  'Basalt quarry hit',
]);

test.each([
  ['colbalt strike', 'cobalt strike'],
  ['Colbalt  STRIKE', 'cobalt strike'],
  ['ransomwre', 'ransomware'],
  ['ransmowaer bank', 'ransomware bank'],
  ['banl', 'bank'],
  ['lockbit ransomeware', undefined],
  ['lgo4j2', 'log4j2'],
  ['cobalt strike', undefined],
  ['rans', undefined],
  ['colbalt nowhere', undefined],
  ['colbalt.example', undefined],
  ['"colbalt strike"', undefined],
  ['colbalt -strike', undefined],
  ['CVE-2024-1234', undefined],
  ['ban', undefined],
  ['clbalt strke and a bnak', 'cobalt strike and a bank'],
])('corrects %s to %s', (text, expected) => {
  expect(correctText(text, known)).toBe(expected);
});

test.each([
  ['supply chain npm', ['supply', 'chain', 'npm']],
  ['ransomware in a hospital', ['ransomware', 'hospital']],
  ['cozy bear powershell', ['cozy bear', 'powershell']],
  ['citrix bleed or bec', ['citrix bleed', 'bec']],
  ['a.example ransomware', []],
  ['ransomware -lockbit', []],
])('splits %s into parts', (text, expected) => {
  expect(listParts(text)).toEqual(expected);
});

test.each([
  [[0.5, 0.2, 0.13], [[0]]],
  [
    [0.3, 0.3],
    [[0], [1]],
  ],
  [
    [0.3, 0.3, 0.3],
    [
      [0, 1],
      [0, 2],
      [1, 2],
    ],
  ],
])('lists the smallest groups with half of the weights %j', (weights, expected) => {
  expect(listGroups(weights)).toEqual(expected);
});
