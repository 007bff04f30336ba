import { authorError } from '../siem-errors.ts';
import { listPipeCommands, removeQuotedText } from './query-text.ts';

// Commands that change data, send it elsewhere or run stored searches. A detection's search only reads.
const sideEffects = new Set(
  `collect delete dump mcollect meventcollect map outputcsv outputlookup outputtelemetry rest run runshellscript savedsearch script
   sendalert sendemail stash summaryindex tscollect sichart sirare sistats sitimechart sitop`.split(/\s+/),
);

const transforming = new Set(
  'chart contingency eventcount fieldsummary geostats mstats pivot rare stats timechart top tstats'.split(' '),
);

const timeRange = /\b_?(?:index_)?(?:earliest|latest)\s*=/i;
// Deprecated time modifiers, which Splunk still accepts before the first pipe. After it, they are field names.
const oldTimeRange =
  /\b(?:(?:start|end)timeu?|(?:start|end)?(?:months|days|hours|minutes)ago|searchtimespan(?:months|days|hours|minutes))\s*=/i;

/** Throws `query_not_allowed` for a search with side effects or a time range of its own. Also checks quoted text, in case Splunk reads quotes differently. */
export function rejectSideEffects(query: string): void {
  for (const [, name = ''] of query.matchAll(/[|[]\s*([a-z_]+)/gi)) {
    if (sideEffects.has(name.toLowerCase()))
      throw authorError('query_not_allowed', `A search must not use the command ${name}.`);
  }
  if (query.includes('`'))
    throw authorError('query_not_allowed', 'A search must not use macros, because their content cannot be checked.');
  // Only the outer search is checked. A subsearch may have its own time range.
  const outer = withoutSubsearches(removeQuotedText(query, 'spl'));
  const hasTimeRange = [withoutSubsearches(query), outer].some((text) => timeRange.test(text));
  if (hasTimeRange || oldTimeRange.test(outer.split('|')[0]!))
    throw authorError(
      'query_not_allowed',
      'A search must not set its time range, which is that of its window. Remove earliest and latest.',
    );
}

/** Returns whether the rows of a search are groups. */
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
