import type { PlantedField } from './screen-candidate.ts';

/**
 * Why a person has to look at a hit, whatever a model says: its rows or the results of a tool contain text that is addressed to a
 * model. `fields` are the fields of the rows, `entity` for the entity itself.
 */
export type NeedsReview = { reason: 'planted_text'; fields: string[]; tools: string[] };

const fieldsMax = 20;

/** Returns undefined if nothing is planted. Names of fields that are planted themselves appear as `(a field name)`. */
export function createNeedsReview(planted: readonly PlantedField[], tools: readonly string[]): NeedsReview | undefined {
  if (planted.length === 0 && tools.length === 0) return undefined;
  const fields = planted.map(({ field }) => (/^[\w.@$-]{1,100}$/.test(field) ? field : '(a field name)'));
  return {
    reason: 'planted_text',
    fields: [...new Set(fields)].slice(0, fieldsMax),
    tools: [...new Set(tools)].slice(0, fieldsMax),
  };
}

/** Returns the sentence about planted text in a summary. */
export function describeNeedsReview({ fields, tools }: NeedsReview): string {
  const places = [
    ...(fields.length > 0 ? [`in ${fields.join(', ')}`] : []),
    ...(tools.length > 0 ? [`in results of ${tools.join(', ')}`] : []),
  ];
  return `Text that reads as if addressed to a model was found ${places.join(' and ')}. It is not quoted here, and a person must decide.`;
}
