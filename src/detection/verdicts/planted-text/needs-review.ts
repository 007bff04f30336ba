import type { Unconfirmed } from '../verdict.ts';
import type { PlantedField } from './screen-candidate.ts';

/**
 * Why a person has to look at a hit, whatever a model says. `planted_text`: its rows or the results of a tool contain text that is addressed to
 * a model. `free_text`: the model dismissed it or lowered its severity, but not without the free text that outsiders control. `outside_context`: the
 * same, but it also read `context` from outside: `feed`, or the names of tools. `fields` are the fields of the rows, `entity` for the entity itself.
 */
export type NeedsReview = {
  reason: 'planted_text' | 'free_text' | 'outside_context';
  fields: string[];
  tools: string[];
  context?: string[];
};

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

/** Returns the review of a verdict that the model did not confirm without what outsiders wrote. */
export const reviewOfUnconfirmed = ({ fields, context }: Unconfirmed): NeedsReview => ({
  reason: context.length > 0 ? 'outside_context' : 'free_text',
  fields: listFieldNames(fields),
  tools: [],
  ...(context.length > 0 && { context: context.slice(0, fieldsMax) }),
});

const listFieldNames = (fields: readonly string[]): string[] => {
  const shown = fields.map((field) => (/^[\w.@$-]{1,100}$/.test(field) ? field : '(a field name)'));
  return [...new Set(shown)].slice(0, fieldsMax);
};

/** Returns the sentence about the review in a summary. */
export function describeNeedsReview({ reason, fields, tools, context = [] }: NeedsReview): string {
  if (reason !== 'planted_text') {
    const sources = [
      ...(fields.length > 0 ? [`the free text in ${fields.join(', ')}`] : []),
      ...context.map((source) => (source === 'feed' ? 'the threat feed' : `the tool ${source}`)),
    ];
    return `The judge rated it lower than its facts, but did not do so without text that an outsider can write: ${sources.join(', ')}. A person must decide.`;
  }
  const places = [
    ...(fields.length > 0 ? [`in ${fields.join(', ')}`] : []),
    ...(tools.length > 0 ? [`in results of ${tools.join(', ')}`] : []),
  ];
  return `Text that reads as if addressed to a model was found ${places.join(' and ')}. It is not quoted here, and a person must decide.`;
}
