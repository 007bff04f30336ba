import { ja, ko, zh } from './east-asian.ts';
import { fr, it } from './french-italian.ts';
import { de, nl } from './german-dutch.ts';
import type { ReportLanguage } from './report-language.ts';
import { pl, ru, uk } from './slavic.ts';
import { es, pt } from './spanish-portuguese.ts';

const languages = { de, fr, es, pt, it, nl, pl, ru, uk, ja, zh, ko } satisfies Record<string, ReportLanguage>;

export type ReportLanguageCode = keyof typeof languages;

/** The languages other than English in which reports are read, by their ISO 639-1 codes. */
export const reportLanguages: Record<ReportLanguageCode, ReportLanguage> = languages;

/** Returns whether the rules know a language, by its ISO 639-1 code. English is none of them. */
export const isReportLanguage = (code: string | undefined): code is ReportLanguageCode =>
  code !== undefined && Object.hasOwn(languages, code);
