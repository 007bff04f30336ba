import type { PlantedField } from './screen-candidate.ts';

/**
 * Why a person has to look at a hit, whatever a model says. `planted_text`: its rows or the results of a tool contain text that is addressed to
 * a model. `free_text`: the model dismissed it, but not without the free text that outsiders control. `fields` are the fields of the rows, `entity`
 * for the entity itself.
 */
export type NeedsReview = { reason: 'planted_text' | 'free_text'; fields: string[]; tools: string[] };

const fieldsMax = 20;

/** Returns undefined if nothing is planted. Names of fields that are planted themselves appear as `(a field name)`. */
export function createNeedsReview(planted: readonly PlantedField[], tools: readonly string[]): NeedsReview | undefined {
  if (planted.length === 0 && tools.length === 0) return undefined;
  return {
    reason: 'planted_text',
    fields: listFieldNames(planted.map(({ field }) => field)),
    tools: [...new Set(tools)].slice(0, fieldsMax),
  };
}

/** Returns the review of a dismissal that the model did not confirm without these fields. */
export const reviewOfDismissal = (fields: readonly string[]): NeedsReview => ({
  reason: 'free_text',
  fields: listFieldNames(fields),
  tools: [],
});

const listFieldNames = (fields: readonly string[]): string[] => {
  const shown = fields.map((field) => (/^[\w.@$-]{1,100}$/.test(field) ? field : '(a field name)'));
  return [...new Set(shown)].slice(0, fieldsMax);
};

/** Returns the sentence about the review in a summary. */
export function describeNeedsReview({ reason, fields, tools }: NeedsReview): string {
  if (reason === 'free_text')
    return `The judge dismissed it, but did not do so without the free text in ${fields.join(', ')}, which an outsider can write. A person must decide.`;
  const places = [
    ...(fields.length > 0 ? [`in ${fields.join(', ')}`] : []),
    ...(tools.length > 0 ? [`in results of ${tools.join(', ')}`] : []),
  ];
  return `Text that reads as if addressed to a model was found ${places.join(' and ')}. It is not quoted here, and a person must decide.`;
}
