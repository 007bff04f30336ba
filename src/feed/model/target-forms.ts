import { ownValue } from '../../platform/lib/json/json-values.ts';
import words from './target-words.json' with { type: 'json' };

/** A sector of STIX or the code of a country, with the words that texts use for it. */
type TargetForms<Kind> = { kind: Kind; name: string; forms: string[] };

type WordLists = Record<string, readonly string[]>;

const toSectorForms = (words: WordLists): TargetForms<'sector'>[] =>
  Object.entries(words).map(([name, forms]) => ({ kind: 'sector', name, forms: [...forms] }));

/** The industry sectors of STIX 2.1 (section 10.13) by the words of each language that stand for an organization of the sector. */
const { en: englishWords, ...foreignWords } = words.sectors;

const sectorForms = toSectorForms(englishWords);

/** Returns the sectors with their English words and those in a language (ISO 639-1). */
export const listSectorForms = (language: string): TargetForms<'sector'>[] => [
  ...sectorForms,
  ...toSectorForms(ownValue<WordLists>(foreignWords, language) ?? {}),
];

const englishSectors = new Set<string>(Object.values(englishWords).flat());

/** Returns whether a text is one of the English words for a sector. */
export const isEnglishSector = (printed: string): boolean => englishSectors.has(printed.toLowerCase());

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
    return name
      ? [
          {
            kind: 'country' as const,
            name: code,
            forms: [name, ...(ownValue<readonly string[]>(words.countries, code) ?? [])],
          },
        ]
      : [];
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

/** With further names of sectors in the sector galaxy of MISP, which mean other things in prose. */
const statedSectorForms: TargetForms<'sector'>[] = sectorForms.map((sector) => ({
  ...sector,
  forms: [...sector.forms, ...(ownValue<readonly string[]>(words.statedSectors, sector.name) ?? [])],
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
