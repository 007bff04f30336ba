import type { ExtractedName } from '../names/extracted-name.ts';
import { extractNames } from '../names/extract-names.ts';
import type { NameDictionary } from '../names/dictionary/name-dictionary.ts';
import { findSentences } from '../text/sentence-spans.ts';
import { judgeSeverity, statesSeverity, type SeverityRating } from './judge-severity.ts';
import { rateReport } from './rate-report.ts';

type DescribedRecord = {
  title: string;
  description: string;
  /** The severity that the source states. */
  word: string | undefined;
  publishTime: string | undefined;
  names: NameDictionary | undefined;
};

const descriptionMaxChars = 100_000;

/** Rates a record that describes a threat in prose: by the severity that the source or the description states, otherwise as a report. */
export function rateDescription({ title, description, word, publishTime, names }: DescribedRecord): SeverityRating {
  if (word !== undefined || statesSeverity(description))
    return judgeSeverity({ word, text: description, exploited: 'no' });
  const text = description.slice(0, descriptionMaxChars);
  const found: ExtractedName[] = extractNames(`${title}\n${text}`, names);
  const { severity, rule } = rateReport({
    title,
    text,
    sentences: findSentences(text),
    names: found,
    indicators: 0,
    publishTime,
  });
  return { severity, rule };
}
