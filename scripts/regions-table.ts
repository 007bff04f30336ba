import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Writes src/feed/reference-data/shipped/regions.tsv, the countries of each region of the UN (M49), and of the European Union. FILE is
 * supplemental/territoryContainment.json of the npm package cldr-core, here 48.2.0. Usage: node scripts/regions-table.ts FILE
 */
const input = process.argv[2];
if (!input) throw new Error('Usage: node scripts/regions-table.ts FILE');
const { territoryContainment: containment } = JSON.parse(readFileSync(input, 'utf8')).supplemental as {
  territoryContainment: Record<string, { _contains: string[] }>;
};
const listCountries = (code: string): string[] =>
  containment[code] && code !== 'EU' ? containment[code]._contains.flatMap(listCountries) : [code];
// The whole world says nothing, and the outlying islands of Oceania (QO) are no country.
const codes = Object.keys(containment).filter((code) => /^\d{3}$|^EU$/.test(code) && code !== '001');
const rows = codes.toSorted().flatMap((code) => {
  const countries = code === 'EU' ? containment['EU']!._contains : listCountries(code);
  const known = [...new Set(countries)].filter((country) => /^[A-Z]{2}$/.test(country) && country !== 'QO').toSorted();
  return known.length > 0 ? [`${code}\t${known.join(' ')}`] : [];
});
writeFileSync(resolve(import.meta.dirname, '../src/feed/reference-data/shipped/regions.tsv'), `${rows.join('\n')}\n`);
