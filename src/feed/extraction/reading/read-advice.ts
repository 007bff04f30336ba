import { adviceSentencesMax, isAdviceTitle, isDenied, isTitleLine } from '../techniques/sentence-kinds.ts';
import { findAdviceIn } from '../techniques/technique-statements.ts';
import { isReportLanguage } from '../lexicon/languages.ts';
import { type AdviceStatement, cue, listAdviceStatements } from '../lexicon/lexicon.ts';
import type { AdviceAction } from '../../model/vocabulary.ts';
import { type Claim, quotedBefore, type ReadDocument } from './claim.ts';

const listMarker = /^(?:[-*•–]|\d{1,2}[.)])\s/;
const [sentenceMinChars, sentenceMaxChars] = [20, 400];

/**
 * Claims what the report advises its readers to do: sentences that address readers, and instructions in sections of advice. What others advise,
 * such as the messages of attackers, is no advice.
 */
export function claimAdvice({ sentences, language }: Pick<ReadDocument, 'sentences' | 'language'>): Claim[] {
  let sectionLeft = 0;
  return sentences.flatMap(({ text, start, end }) => {
    const isUsable = text.length >= sentenceMinChars && text.length <= sentenceMaxChars && !/[?:]$/.test(text);
    const action = !isUsable
      ? undefined
      : isReportLanguage(language)
        ? findAdviceIn(language, text)
        : findAdvice(text, sectionLeft > 0);
    if (introducesAdvice(text)) sectionLeft = adviceSentencesMax;
    else if (isTitleLine(text) && action === undefined) sectionLeft = isAdviceTitle(text) ? adviceSentencesMax : 0;
    else sectionLeft -= 1;
    if (action === undefined) return [];
    const marker = listMarker.exec(text)?.[0].length ?? 0;
    const quote = { start: start + marker, end };
    return [{ field: 'advice', action, value: text.slice(marker), quote, confidence: 0.8 }];
  });
}

/** Returns whether a sentence introduces a list of advice. */
const introducesAdvice = (sentence: string): boolean =>
  cue('adviceIntroduction').test(sentence) || (sentence.endsWith(':') && cue('advising').test(sentence));

let statements: AdviceStatement[] | undefined;

/** Returns the first action that an English sentence advises. */
function findAdvice(sentence: string, isInSection: boolean): AdviceAction | undefined {
  if (!isInSection && !cue('advising').test(sentence)) return undefined;
  statements ??= listAdviceStatements();
  const [first] = statements
    .flatMap(({ means, advice, instruction }) => {
      const match = (isInSection && instruction.exec(sentence)) || advice.exec(sentence);
      return match && isGiven(sentence, match) ? [{ means, at: match.index + match[0].length }] : [];
    })
    .toSorted((a, b) => a.at - b.at);
  return first && !cue('notOurAdvice').test(sentence) ? first.means : undefined;
}

/** Returns whether the words of advice are the publisher's own, and not denied. */
const isGiven = (sentence: string, { index, 0: { length } }: RegExpExecArray): boolean =>
  !isDenied(sentence, { index, length }) && !quotedBefore.test(sentence.slice(0, index));
