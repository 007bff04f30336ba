import { expect, test } from 'vitest';
import { addresses } from '../../../../test/support/indicator-cases/addresses.ts';
import type { IndicatorCase } from '../../../../test/support/indicator-cases/case.ts';
import { codes } from '../../../../test/support/indicator-cases/codes.ts';
import { defanged } from '../../../../test/support/indicator-cases/defanged.ts';
import { files } from '../../../../test/support/indicator-cases/files.ts';
import { hosts } from '../../../../test/support/indicator-cases/hosts.ts';
import { languages } from '../../../../test/support/indicator-cases/languages.ts';
import { mentions } from '../../../../test/support/indicator-cases/mentions.ts';
import { originals } from '../../../../test/support/indicator-cases/originals.ts';
import { services } from '../../../../test/support/indicator-cases/services.ts';
import { trickyAddresses } from '../../../../test/support/indicator-cases/tricky-addresses.ts';
import { trickyWords } from '../../../../test/support/indicator-cases/tricky-words.ts';
import { extractIndicators } from './extract-indicators.ts';

/** Returns all values of a passage in the notation of the cases. */
function read(passage: string): string[] {
  const { indicators, others } = extractIndicators(passage);
  return [
    ...indicators.map(
      ({ type, status, normalizedValue }) => `${status === 'active' ? '' : '~'}${type} ${normalizedValue}`,
    ),
    ...others.map(({ framework, id }) => `${framework.replace('observable:', '')} ${id}`),
  ];
}

const order = (values: readonly string[]): string[] => values.toSorted();

const cases: [string, IndicatorCase[]][] = [
  ['defanged', defanged],
  ['addresses', addresses],
  ['codes', codes],
  ['files', files],
  ['hosts', hosts],
  ['languages', languages],
  ['mentions', mentions],
  ['originals', originals],
  ['services', services],
  ['tricky addresses', trickyAddresses],
  ['tricky words', trickyWords],
];

for (const [kind, list] of cases)
  test.each(list.map(([passage, ...expected]) => ({ passage, expected })))(
    `${kind}: $passage`,
    ({ passage, expected }) => {
      expect(order(read(passage))).toEqual(order(expected));
    },
  );
