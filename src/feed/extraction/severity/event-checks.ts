import { cue, type CueId } from '../lexicon/lexicon.ts';
import type { ExtractedName } from '../names/extracted-name.ts';
import { statesCue, type Statement } from './report-statements.ts';

/** Returns whether a statement says that an attack or a discovery happened. */
export const isActivity = (one: Statement): boolean =>
  statesCue(one, 'activity') ||
  (one.isTitle && statesCue(one, 'headlineActivity')) ||
  one.hasActingName === true ||
  isTranslatedActivity(one);

/**
 * Returns whether a translated statement is about attackers or malware. Most verbs of other languages are unknown, so it counts as an activity unless
 * it states a possibility.
 */
const isTranslatedActivity = ({ isTranslated, text }: Statement): boolean =>
  isTranslated && (cue('attacker').test(text) || cue('malware').test(text)) && !cue('hypothesis').test(text);

export const isExploitation = (one: Statement): boolean =>
  one.hasExploitingName === true || statesCue(one, 'exploitation');
export const isThreat = (one: Statement): boolean =>
  statesCue(one, 'malware') || statesCue(one, 'attacker') || isExploitation(one);

export const hasTarget = ({ text }: Statement): boolean =>
  cue('sector').test(text) ||
  mentionsCountry(text) ||
  cue('severalOrganizations').test(text) ||
  cue('countedVictims').test(text);
export const hasManyTargets = ({ text }: Statement): boolean =>
  cue('severalOrganizations').test(text) || cue('criticalInfrastructure').test(text);

/** Returns whether a statement is about a lure. Its country or sector is that of the impersonated sender, not of victims. */
export const describesLure = ({ text }: Statement): boolean =>
  cue('lure').test(text) && !/\b(?:target\w*|against|victims?|attack(?:s|ed|ing)|compromis\w+)\b/i.test(text);

/** Returns whether a statement contains the name of an actor. */
export const mentionsActor = ({ text }: Statement, names: ExtractedName[]): boolean =>
  names.some(({ kind, printed }) => kind === 'actor' && printed.some((form) => text.includes(form)));

/** Returns whether a statement says that a named actor attacks: `Foobar sent`. */
export const mentionsActingActor = (one: Statement, names: ExtractedName[]): boolean =>
  mentionsActingName(
    one,
    names.filter(({ kind }) => kind === 'actor'),
  );

/** Returns whether a statement says that a named actor or malware attacks. */
export const mentionsActingName = (one: Statement, names: ExtractedName[]): boolean =>
  mentionsNameBefore(one, names, 'attackVerbs');

/** Returns whether a statement says that a named actor or malware exploits a vulnerability: `Foobar exploits two flaws`. */
export const mentionsExploitingName = (one: Statement, names: ExtractedName[]): boolean =>
  mentionsNameBefore(one, names, 'exploitsFlaw');

const verbReach = 30;

const mentionsNameBefore = ({ text }: Statement, names: ExtractedName[], verb: CueId): boolean =>
  names.some(
    ({ kind, printed }) =>
      kind !== 'tool' &&
      printed.some((form) =>
        text
          .split(form)
          .slice(1)
          .some((rest) => (cue(verb).exec(rest)?.index ?? Infinity) <= verbReach),
      ),
  );

/** Returns whether a text mentions a country. The country of those who report an attack is not its target. */
function mentionsCountry(text: string): boolean {
  const rest = text.replace(cue('reporters'), ' ');
  return cue('country').test(rest) || cue('countryAcronyms').test(rest);
}

/** Returns whether a statement contains the name of malware or an actor. */
export const mentionsName = ({ text }: Statement, names: ExtractedName[]): boolean =>
  names.some(({ kind, printed }) => kind !== 'tool' && printed.some((form) => text.includes(form)));

/** Returns whether a statement mentions an attacker with a name or a kind (`ransomware gang`), or victims. */
export const mentionsAttackerOrVictims = (one: Statement, names: ExtractedName[]): boolean =>
  mentionsActor(one, names) ||
  cue('actor').test(one.text) ||
  cue('ransomwareActor').test(one.text) ||
  statesCue(one, 'victim') ||
  (isActivity(one) && statesCue(one, 'ransomware')) ||
  (isActivity(one) && hasManyTargets(one));

/** Returns whether a text denies that its vulnerability is exploited and does not say that another one is. */
export const deniesExploitation = (lead: Statement[]): boolean =>
  lead.some(({ full }) => cue('negation').test(full) && /exploit|attacks?\b|abuse/i.test(full)) &&
  !lead.some((one) => one.isAsserted && (statesCue(one, 'activeExploitation') || statesCue(one, 'observedAttack')));

/** Returns the first statement that passes `check` with the one that passes `other`: itself, a neighbor, or the title. */
export function findNear(
  all: Statement[],
  check: (one: Statement) => boolean,
  other: (one: Statement) => boolean,
): Statement[] {
  const title = all.find(({ isTitle }) => isTitle);
  for (const [index, one] of all.entries()) {
    if (!check(one)) continue;
    const partner = [one, all[index + 1], all[index - 1], title].find((neighbor) => neighbor && other(neighbor));
    if (partner) return [...new Set([one, partner])];
  }
  return [];
}

/** The first statements of a report state its subject. */
export const openingStatements = 4;
export const subjectStatements = 14;

/** Returns whether statements are the subject of a report: several of them, or one of the first. */
export const isSubject = (found: Statement[], lead: Statement[]): boolean =>
  found.length > 1 || (found[0] !== undefined && lead.slice(0, openingStatements).includes(found[0]));

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
