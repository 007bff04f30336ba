import { getShippedModel, scoreLabels } from '../classifier/linear-model.ts';
import { cue } from '../lexicon/lexicon.ts';
import { findMatches } from '../text/find-matches.ts';
import type { Span } from '../text/stored-text.ts';
import type { NameKind } from './dictionary/name-dictionary.ts';
import type { NameCandidate } from './name-candidates.ts';

/**
 * A name that a text introduces, whether or not a list has it. `isStated`: the classifier is sure of it. `isScheme`: the name follows a
 * publisher's naming scheme.
 */
export type NewName = { kind: NameKind; name: string; span: Span; isStated: boolean; isScheme?: boolean };

/** The margins from which a candidate is a name, and from which its kind is sure. */
const [least, sure] = [0.4, 0.6];
const namesMax = 200;

/** Returns the names among the candidates of a text, by its words around them, and those of naming schemes. */
export function findNewNames(text: string, candidates: NameCandidate[]): NewName[] {
  const model = getShippedModel('names');
  const margins = new Float32Array(model.labels.length);
  const names = candidates.flatMap(({ printed, span, features }): NewName[] => {
    if (!features) return [];
    scoreLabels(model, features, margins);
    const best = Math.max(...margins);
    const kind = model.labels[margins.indexOf(best)] as NameKind;
    return best < least ? [] : [{ kind, name: printed, span, isStated: best >= sure }];
  });
  const ofSchemes = findMatches(cue('actorSchemes', 'g'), text).map(({ 0: name, index: start }): NewName => ({
    kind: 'actor',
    name,
    span: { start, end: start + name.length },
    isStated: true,
    isScheme: true,
  }));
  return [...names.slice(0, namesMax), ...ofSchemes];
}
