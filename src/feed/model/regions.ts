import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const displayNames = new Intl.DisplayNames(['en'], { type: 'region' });

/** The names that STIX (`region-ov`) and reports use beside those of Unicode. */
const furtherNames: Record<string, string[]> = {
  '013': ['Central America'],
  '029': ['Caribbean'],
  '034': ['South Asia'],
  '035': ['South-Eastern Asia', 'South East Asia'],
  '030': ['East Asia'],
  '053': ['Australia and New Zealand', 'Australia New Zealand'],
  '057': ['Micronesia'],
  '145': ['West Asia'],
  '202': ['Subsaharan Africa'],
  '419': ['Latin America and the Caribbean', 'Latin America Caribbean', 'LATAM'],
  EU: ['EU'],
};

/** Regions of which the UN has no code, as the countries and regions that they consist of. */
const composedRegions: Record<string, string> = {
  'Middle East': '145 EG IR',
  'Middle East and North Africa|MENA': '145 015 IR',
  'Europe, the Middle East and Africa|EMEA': '150 145 002 IR',
  'Asia-Pacific|Asia and the Pacific|APAC': '030 034 035 009',
  'Nordic countries|Nordics': 'DK FI IS NO SE',
  'Baltic states|Baltics': 'EE LT LV',
};

const countriesByRegion = readRegions();

function readRegions(): Map<string, ReadonlySet<string>> {
  const byCode = new Map(
    readFileSync(resolve(import.meta.dirname, '../reference-data/shipped/regions.tsv'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
      .map(([code = '', countries = '']) => [code, countries.split(' ')] as const),
  );
  const named = [...byCode].flatMap(([code, countries]) =>
    [code, displayNames.of(code)!, ...(furtherNames[code] ?? [])].map((name) => [name, countries] as const),
  );
  const composed = Object.entries(composedRegions).flatMap(([names, parts]) => {
    const countries = parts.split(' ').flatMap((part) => byCode.get(part) ?? [part]);
    return names.split('|').map((name) => [name, countries] as const);
  });
  return new Map([...named, ...composed].map(([name, countries]) => [foldRegion(name), new Set(countries)]));
}

/**
 * Returns the codes of the countries of a region (ISO 3166-1): one of the UN (M49) by its name, its code or the name that STIX gives it, the European
 * Union, and a few that reports name, such as the Middle East. Also reads `150 - Europe`, as MISP writes it. Undefined for other text.
 */
export const findRegionCountries = (name: string): ReadonlySet<string> | undefined =>
  countriesByRegion.get(foldRegion(name.replace(/^\d{3} - /, '')));

function foldRegion(name: string): string {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => word !== 'the').join(' ');
}
