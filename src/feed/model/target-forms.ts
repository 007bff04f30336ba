import { ownValue } from '../../platform/lib/json/json-values.ts';

/** A sector of STIX or the code of a country, with the words that texts use for it. */
type TargetForms<Kind> = { kind: Kind; name: string; forms: string[] };

/** The industry sectors of STIX 2.1 (section 10.13) by the words that reports use for them. */
const wordsBySector: Record<string, string> = {
  aerospace: 'aerospace|aviation',
  agriculture: 'agriculture|agricultural',
  automotive: 'automotive',
  chemical: 'chemical',
  communications: 'communications|media',
  construction: 'construction',
  defense: 'defense|defence|military',
  education: 'education|educational|academia|universities|schools',
  energy: 'energy|oil and gas|oil & gas|oil and natural gas|electricity',
  'financial-services': 'financial|finance|banks|banking|financial services|financial institutions',
  government: 'government|governments|governmental|ministries|diplomatic',
  healthcare: 'healthcare|health care|hospitals|medical',
  'hospitality-leisure': 'hospitality|hotels|casinos',
  infrastructure: 'critical infrastructure',
  insurance: 'insurance',
  manufacturing: 'manufacturing|manufacturers|industrial',
  mining: 'mining companies',
  'non-profit': 'non-profit|nonprofit|non-profits|nonprofits|ngos|think tanks',
  pharmaceuticals: 'pharmaceutical|pharmaceuticals',
  retail: 'retail|retailers',
  technology: 'technology|high-tech|software companies',
  telecommunications: 'telecommunications|telecommunication|telecom|telecoms|telco|telcos',
  transportation: 'transportation|transport|logistics|shipping|maritime',
  utilities: 'utilities|water',
};

const sectorForms: TargetForms<'sector'>[] = Object.entries(wordsBySector).map(([name, words]) => ({
  kind: 'sector' as const,
  name,
  forms: words.split('|'),
}));

/** Further names of sectors in the sector galaxy of MISP, which mean other things in prose. */
const statedWords: Record<string, string> = {
  aerospace: 'space',
  energy: 'electric|gas|oil',
  'financial-services': 'payment',
  government: 'administration|diplomacy|police|political party',
  healthcare: 'health',
  'hospitality-leisure': 'tourism|travel|restaurant',
  pharmaceuticals: 'pharmacy',
  retail: 'ecommerce|trade',
  technology: 'it',
  transportation: 'railway|logistic',
};

/** Words for organizations of a sector in other languages. Each means a target without a further noun. */
const foreignWordsBySector: Record<string, Record<string, string>> = {
  de: {
    government: 'Behörden|Regierungen|Ministerien|Regierungsbehörden|Regierungsorganisationen',
    'financial-services': 'Banken|Finanzinstitute|Finanzunternehmen',
    healthcare: 'Krankenhäuser|Kliniken|Gesundheitswesen',
    education: 'Universitäten|Hochschulen|Schulen',
    energy: 'Energieunternehmen|Energieversorger',
    telecommunications: 'Telekommunikationsunternehmen|Telekommunikationsanbieter',
    transportation: 'Logistikunternehmen|Transportunternehmen',
    defense: 'Rüstungsunternehmen|Verteidigungsunternehmen',
  },
  fr: {
    government: 'gouvernements|ministères|organisations gouvernementales|agences gouvernementales',
    'financial-services': 'banques|institutions financières|établissements bancaires',
    healthcare: 'hôpitaux|établissements de santé',
    education: 'universités|établissements scolaires',
    telecommunications: 'opérateurs télécoms|opérateurs de télécommunications|télécommunications',
    energy: 'secteur de l’énergie|entreprises énergétiques',
    defense: 'entreprises de défense|secteur de la défense',
  },
  es: {
    government: 'gobiernos|ministerios|entidades gubernamentales|organismos gubernamentales|agencias gubernamentales',
    'financial-services': 'bancos|instituciones financieras|entidades financieras|entidades bancarias',
    healthcare: 'hospitales|sector salud|sector sanitario',
    education: 'universidades|instituciones educativas',
    telecommunications: 'telecomunicaciones',
    energy: 'sector energético|empresas energéticas',
    defense: 'sector de defensa|industria de defensa',
  },
  pt: {
    government: 'governos|ministérios|órgãos governamentais|agências governamentais|entidades governamentais',
    'financial-services': 'bancos|instituições financeiras',
    healthcare: 'hospitais|organizações de saúde|instituições de saúde|setor de saúde',
    education: 'universidades|instituições de ensino',
    telecommunications: 'telecomunicações',
    energy: 'setor de energia|empresas de energia',
    defense: 'setor de defesa|empresas de defesa',
  },
  it: {
    government: 'governi|ministeri|organizzazioni governative|enti governativi|agenzie governative',
    'financial-services': 'banche|istituzioni finanziarie|istituti bancari|istituti finanziari',
    healthcare: 'ospedali|strutture sanitarie|settore sanitario',
    education: 'università|scuole',
    telecommunications: 'telecomunicazioni',
    energy: 'settore energetico|aziende energetiche',
    defense: 'settore della difesa|aziende della difesa',
  },
};

/** Returns the sectors with their English words and those in a language (ISO 639-1). */
export const listSectorForms = (language: string): TargetForms<'sector'>[] => [
  ...sectorForms,
  ...Object.entries(foreignWordsBySector[language] ?? {}).map(([name, words]) => ({
    kind: 'sector' as const,
    name,
    forms: words.split('|'),
  })),
];

const englishSectors = new Set(Object.values(wordsBySector).flatMap((words) => words.split('|')));

/** Returns whether a text is one of the English words for a sector. */
export const isEnglishSector = (printed: string): boolean => englishSectors.has(printed.toLowerCase());

/** Names of countries that differ from those of Unicode. */
const furtherForms: Record<string, string[]> = {
  AE: ['UAE'],
  BA: ['Bosnia and Herzegovina', 'Bosnia'],
  CI: ['Ivory Coast'],
  CZ: ['Czech Republic'],
  GB: ['UK', 'Great Britain'],
  HK: ['Hong Kong'],
  MM: ['Myanmar', 'Burma'],
  MO: ['Macau', 'Macao'],
  PS: ['Palestine'],
  TR: ['Turkey'],
  US: ['USA', 'U.S', 'US'],
};

const displayNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
/** Codes of Unicode that are not a country. */
const otherCodes = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']);

/** Returns the English name of a country by its code (ISO 3166-1), undefined for an unknown or withdrawn code and any other text. */
export function countryName(code: string): string | undefined {
  if (!/^[A-Z]{2}$/.test(code)) return undefined;
  const isCurrent = !otherCodes.has(code) && new Intl.Locale(`und-${code}`).region === code;
  return isCurrent ? displayNames.of(code) : undefined;
}

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

export const countryForms: TargetForms<'country'>[] = letters
  .flatMap((first) => letters.map((second) => first + second))
  .flatMap((code) => {
    const name = countryName(code);
    return name ? [{ kind: 'country' as const, name: code, forms: [name, ...(furtherForms[code] ?? [])] }] : [];
  });

const formsByLanguage = new Map<string, TargetForms<'country'>[]>([['en', countryForms]]);

/** Returns the countries with their English names and those in a language (ISO 639-1). */
export function listCountryForms(language: string): TargetForms<'country'>[] {
  let forms = formsByLanguage.get(language);
  if (!forms) {
    const names = new Intl.DisplayNames([language, 'en'], { type: 'region', fallback: 'none' });
    forms = countryForms.map((country) => ({
      ...country,
      forms: [...country.forms, names.of(country.name) ?? country.name],
    }));
    formsByLanguage.set(language, forms);
  }
  return forms;
}

const statedSectorForms: TargetForms<'sector'>[] = sectorForms.map((sector) => ({
  ...sector,
  forms: [...sector.forms, ...(ownValue(statedWords, sector.name)?.split('|') ?? [])],
}));

const nameByForm = new Map(
  [...statedSectorForms, ...countryForms].flatMap(({ kind, name, forms }) =>
    [name, ...forms].map((form) => [`${kind} ${foldForm(form)}`, name] as const),
  ),
);

/**
 * Returns the sectors of STIX or the country codes that a name stands for: the whole name (`US`), or the forms of a sector that occur in it
 * (`Bank` and `Financial services sector` are `financial-services`).
 */
export function findTargets(kind: 'sector' | 'country', name: string): string[] {
  const folded = foldForm(name);
  const whole = nameByForm.get(`${kind} ${folded}`);
  if (whole !== undefined) return [whole];
  if (kind === 'country') return [];
  const isPart = (form: string): boolean => ` ${folded} `.includes(` ${foldForm(form)} `);
  return statedSectorForms.filter((sector) => [sector.name, ...sector.forms].some(isPart)).map((sector) => sector.name);
}

/** Folds case, hyphens, and the plural, so that `Bank` and `banks` are one form. */
function foldForm(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}&]+/gu) ?? [];
  return words.map((word) => word.replace(/(?<=[a-z]{3})(?:ies|y|s)$/, '')).join(' ');
}
