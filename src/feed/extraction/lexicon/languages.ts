import de from './languages/de.json' with { type: 'json' };
import es from './languages/es.json' with { type: 'json' };
import fr from './languages/fr.json' with { type: 'json' };
import it from './languages/it.json' with { type: 'json' };
import ja from './languages/ja.json' with { type: 'json' };
import ko from './languages/ko.json' with { type: 'json' };
import nl from './languages/nl.json' with { type: 'json' };
import pl from './languages/pl.json' with { type: 'json' };
import pt from './languages/pt.json' with { type: 'json' };
import ru from './languages/ru.json' with { type: 'json' };
import uk from './languages/uk.json' with { type: 'json' };
import zh from './languages/zh.json' with { type: 'json' };
import { compilePhrases } from './phrases.ts';

/** Phrases that mean a technique, or English words that rules know. */
type MeaningfulPhrases = { means: string; phrases: string[] };

/** The words by which reports in a language are read. */
type LanguageLexicon = {
  /** The most common function words. Absent if `detectLanguage` recognizes the language by its script. */
  functionWords?: string;
  /** Whether words stand without spaces between them, so that a phrase also matches inside of one. */
  isUnspaced?: boolean;
  /**
   * `exploited` states the exploitation of a flaw, `doubt` that it is open, `advice` advises readers. `denial` stands before a statement and
   * denies it, and `denied` stands after it. `retraction` states that the publisher withdraws the report.
   */
  cues: Record<'exploited' | 'doubt' | 'advice' | 'retraction', string[]> & { [_ in 'denial' | 'denied']?: string[] };
  /** The roles of values. */
  roles: MeaningfulPhrases[];
  /** Plain statements of techniques. */
  statements: MeaningfulPhrases[];
  /** What advice means, in sentences with a phrase of `advice`. */
  actions: MeaningfulPhrases[];
  /** English words for the rating of severity. Earlier rows win, so phrases stand before their words. */
  words: MeaningfulPhrases[];
};

const languages = { de, fr, es, pt, it, nl, pl, ru, uk, ja, zh, ko } satisfies Record<string, LanguageLexicon>;

export type ReportLanguageCode = keyof typeof languages;

/** The languages other than English in which reports are read, by their ISO 639-1 codes. */
export const reportLanguages: Record<ReportLanguageCode, LanguageLexicon> = languages;

/** Returns whether the lexicon has a language, by its ISO 639-1 code. English is none of them. */
export const isReportLanguage = (code: string | undefined): code is ReportLanguageCode =>
  code !== undefined && Object.hasOwn(languages, code);

type Glossary = { pattern: RegExp; phrases: string[]; regions: RegExp; regionNames: Map<string, string> };

const glossaries = new Map<string, Glossary>();

/**
 * Replaces the terms for attacks, attackers, victims and doubt of another language by the English words that the lexicon knows. Names, numbers and
 * all other words stay. Returns the text unchanged for English, an unknown language, or one without terms.
 */
export function translateCues(text: string, language: string | undefined): string {
  if (!isReportLanguage(language)) return text;
  const { words, isUnspaced = false } = reportLanguages[language];
  let glossary = glossaries.get(language);
  if (!glossary) {
    glossary = { ...compileWords(words, isUnspaced), ...compileRegions(language, isUnspaced) };
    glossaries.set(language, glossary);
  }
  const { pattern, phrases, regions, regionNames } = glossary;
  return text
    .replace(regions, (name) => ` ${regionNames.get(name.toLowerCase()) ?? name} `)
    .replace(pattern, (...match) => ` ${phrases[match.slice(1).findIndex((group) => group !== undefined)]!} `)
    .replaceAll(/ {2,}/g, ' ')
    .trim();
}

/** UN M49 codes of Europe, Asia, Africa and Latin America, which reports mention like countries, and codes of countries. */
const regionCodes =
  '150 142 002 419 AE AF AL AM AR AT AU AZ BA BD BE BG BH BO BR BY CA CH CL CN CO CR CU CY CZ DE DK DO DZ EC EE EG ES ET FI FR GB GE GR GT HK HN HR HU ID IE IL IN IQ IR IS IT JO JP KE KG KH KR KW KZ LA LB LK LT LU LV LY MA MD ME MK MM MN MX MY NG NL NO NP NZ OM PA PE PH PK PL PS PT PY QA RO RS SA SE SG SI SK SN SV SY TH TJ TN TR TW TZ UA UG US UY UZ VE VN YE ZA'.split(
    ' ',
  );

/** Returns the names of countries in a language, from the runtime's locale data, without inflected forms. */
function compileRegions(language: string, isUnspaced: boolean): Pick<Glossary, 'regions' | 'regionNames'> {
  const english = new Intl.DisplayNames(['en'], { type: 'region' });
  const local = new Intl.DisplayNames([language], { type: 'region' });
  const regionNames = new Map(
    regionCodes.map((code) => [(local.of(code) ?? code).toLowerCase(), english.of(code) ?? code] as const),
  );
  const names = [...regionNames.keys()].toSorted((a, b) => b.length - a.length).join('|');
  const source = isUnspaced ? names : `(?<!\\p{L})(?:${names})(?!\\p{L})`;
  return { regions: new RegExp(source, 'giu'), regionNames };
}

function compileWords(
  rows: { means: string; phrases: string[] }[],
  isUnspaced: boolean,
): Pick<Glossary, 'pattern' | 'phrases'> {
  const groups = rows.map(
    ({ phrases }) => `(${compilePhrases(phrases, { script: isUnspaced ? 'unspaced' : undefined }).source})`,
  );
  return { pattern: new RegExp(groups.join('|'), 'giu'), phrases: rows.map(({ means }) => means) };
}
