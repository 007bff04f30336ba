import type { EntityForms } from './entity.ts';

/** The industry sectors of STIX 2.1 (section 10.13) by the words that reports use for them. */
const wordsBySector: Record<string, string> = {
  aerospace: 'aerospace|aviation',
  agriculture: 'agriculture|agricultural',
  automotive: 'automotive',
  chemical: 'chemical',
  communications: 'communications|media',
  construction: 'construction',
  defense: 'defense|defence|military',
  education: 'education|educational|universities|schools',
  energy: 'energy|oil and gas|oil & gas',
  'financial-services': 'financial|finance|banks|banking|financial services|financial institutions',
  government: 'government|governments|governmental|ministries|diplomatic',
  healthcare: 'healthcare|health care|hospitals|medical',
  'hospitality-leisure': 'hospitality|hotels|casinos',
  infrastructure: 'critical infrastructure',
  insurance: 'insurance',
  manufacturing: 'manufacturing|manufacturers|industrial',
  mining: 'mining companies',
  'non-profit': 'non-profit|nonprofit|ngos|think tanks',
  pharmaceuticals: 'pharmaceutical|pharmaceuticals',
  retail: 'retail|retailers',
  technology: 'technology|software companies',
  telecommunications: 'telecommunications|telecommunication|telecom|telecoms',
  transportation: 'transportation|transport|logistics|shipping|maritime',
  utilities: 'utilities|water',
};

export const sectorForms: EntityForms[] = Object.entries(wordsBySector).map(([name, words]) => ({
  kind: 'sector',
  name,
  forms: words.split('|'),
}));

/** Names of countries that differ from those of Unicode. */
const furtherForms: Record<string, string[]> = {
  AE: ['UAE'],
  CZ: ['Czech Republic'],
  GB: ['UK', 'Great Britain'],
  HK: ['Hong Kong'],
  TR: ['Turkey'],
  US: ['USA', 'U.S', 'US'],
};

const displayNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
/** Codes of Unicode that are not a country. */
const otherCodes = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']);

/** Returns the English name of a country by its code (ISO 3166-1), undefined for an unknown or withdrawn code. */
export function countryName(code: string): string | undefined {
  const isCurrent = !otherCodes.has(code) && new Intl.Locale(`und-${code}`).region === code;
  return isCurrent ? displayNames.of(code) : undefined;
}

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

export const countryForms: EntityForms[] = letters
  .flatMap((first) => letters.map((second) => first + second))
  .flatMap((code) => {
    const name = countryName(code);
    return name ? [{ kind: 'country', name: code, forms: [name, ...(furtherForms[code] ?? [])] }] : [];
  });
