import { isActivity, isExploitation, isThreat, openingStatements, subjectStatements } from './event-checks.ts';
import { statesCue, type Statement } from './report-statements.ts';
import { cue } from '../lexicon/lexicon.ts';

/** Finds software that only shows ads, and scams in the title unless they install malware. */
export function findNuisance({ lead }: { lead: Statement[] }): Statement[] {
  const isHarmful = lead.some((one) => statesCue(one, 'harmfulMalware'));
  const ads = lead.slice(0, subjectStatements).filter(({ text }) => cue('adware').test(text));
  if (ads.length > 0 && !isHarmful && lead.some(({ text }) => cue('software').test(text))) return ads;
  // A scam that installs malware is more than a nuisance.
  const installsMalware = lead.some((one) => isActivity(one) && /\bmalware\b/i.test(one.text)) || isHarmful;
  return lead.filter(
    (one) =>
      one.isTitle &&
      statesCue(one, 'low') &&
      !cue('seriousTitle').test(one.text) &&
      (!installsMalware || cue('adware').test(one.text)),
  );
}

/** Finds data that its owner exposed: the title or those who found the data say so, and the data must not have been stolen. */
export function findOpenData({ lead }: { lead: Statement[] }): Statement[] {
  const opening = lead.slice(0, openingStatements);
  if (opening.some(isExploitation) || lead.some((one) => statesCue(one, 'espionage') && isActivity(one))) return [];
  const found = opening.filter(({ text }) => cue('openData').test(text));
  const isDiscovered = found.some((one) => statesCue(one, 'observation') && !isThreat(one));
  return isDiscovered || (found.length > 1 && found[0]!.isTitle) ? found : [];
}
