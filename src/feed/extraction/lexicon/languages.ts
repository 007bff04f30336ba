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
   * denies it, and `denied` stands after it.
   */
  cues: { exploited: string[]; doubt: string[]; advice: string[]; denial?: string[]; denied?: string[] };
  /** Plain statements of techniques. */
  statements: MeaningfulPhrases[];
  /** What advice means, in sentences with a phrase of `advice`. */
  actions?: MeaningfulPhrases[];
  /** English words for the rating of severity. Earlier rows win, so phrases stand before their words. */
  words?: MeaningfulPhrases[];
};

const languages = { de, fr, es, pt, it, nl, pl, ru, uk, ja, zh, ko } satisfies Record<string, LanguageLexicon>;

export type ReportLanguageCode = keyof typeof languages;

/** The languages other than English in which reports are read, by their ISO 639-1 codes. */
export const reportLanguages: Record<ReportLanguageCode, LanguageLexicon> = languages;

/** Returns whether the lexicon has a language, by its ISO 639-1 code. English is none of them. */
export const isReportLanguage = (code: string | undefined): code is ReportLanguageCode =>
  code !== undefined && Object.hasOwn(languages, code);
