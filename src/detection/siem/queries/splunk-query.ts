import { authorError } from '../siem-errors.ts';
import { listPipeCommands, removeQuotedText } from './query-text.ts';

// What changes something, leaves Splunk, or runs what is stored there: a search of a detection only reads.
const sideEffects = new Set(
  `collect delete dump mcollect meventcollect map outputcsv outputlookup outputtelemetry rest run runshellscript savedsearch script
   sendalert sendemail stash summaryindex tscollect sichart sirare sistats sitimechart sitop`.split(/\s+/),
);

const transforming = new Set(
  'chart contingency eventcount fieldsummary geostats mstats pivot rare stats timechart top tstats'.split(' '),
);

const timeRange = /\b_?(?:index_)?(?:earliest|latest)\s*=/i;
// What Splunk still takes besides, before the first pipe; behind it they are names of fields.
const oldTimeRange =
  /\b(?:(?:start|end)timeu?|(?:start|end)?(?:months|days|hours|minutes)ago|searchtimespan(?:months|days|hours|minutes))\s*=/i;

/** Throws query_not_allowed. Texts in quotes are looked at as well: what Splunk takes for a quote is not for us to guess. */
export function rejectSideEffects(query: string): void {
  for (const [, name = ''] of query.matchAll(/[|[]\s*([a-z_]+)/gi)) {
    if (sideEffects.has(name.toLowerCase()))
      throw authorError('query_not_allowed', `A search must not use the command ${name}.`);
  }
  if (query.includes('`'))
    throw authorError('query_not_allowed', 'A search must not use macros: what they hold cannot be checked.');
  // Of the outer search only: a subsearch may look at a time of its own.
  const outer = withoutSubsearches(removeQuotedText(query, 'spl'));
  const isBound = [withoutSubsearches(query), outer].some((text) => timeRange.test(text));
  if (isBound || oldTimeRange.test(outer.split('|')[0]!))
    throw authorError(
      'query_not_allowed',
      'The time range of a search is that of its window: leave out earliest and latest.',
    );
}

/** Whether the rows of a search are groups. */
export const isTransformingSearch = (query: string): boolean =>
  listPipeCommands(withoutSubsearches(removeQuotedText(query, 'spl')), 'spl').some((command) =>
    transforming.has(command),
  );

function withoutSubsearches(query: string): string {
  let [depth, outer] = [0, ''];
  for (const letter of query) {
    if (letter === '[') depth += 1;
    else if (letter === ']') depth = Math.max(0, depth - 1);
    else if (depth === 0) outer += letter;
  }
  return outer;
}
