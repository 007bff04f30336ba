import { didYouMean, nearestNames } from '../../../platform/lib/text/nearest-names.ts';
import type { LogSource } from '../model/rule.ts';
import type { Mapping } from './load-mappings.ts';

const keys = ['product', 'category', 'service'] as const;

/** Returns a log source as text, such as `windows/process_creation`. */
export const logSourceName = (source: LogSource): string =>
  keys.flatMap((key) => (source[key] === undefined ? [] : [source[key]])).join('/');

/** Returns the error for a log source that no mapping knows, with the nearest known names. */
export function describeUnknownSource(list: readonly Mapping[], logSource: LogSource, kind: string): string {
  const advice = 'Correct it, add a mapping, or allow unknown log sources';
  const name = logSourceName(logSource);
  const known = list.flatMap(({ sources, shapes }) => [...sources, ...shapes.flatMap((shape) => shape.sources)]);
  if (known.some((one) => name === logSourceName(one.logSource) && isWithin(one.logSource, logSource)))
    return `no mapping has the log source ${name} for ${kind}. ${advice}`;
  const sources = known.map((one) => one.logSource);
  return `the log source ${name} is unknown${nearestParts(sources, logSource) ?? didYouMean(name, new Set(sources.map(logSourceName)))} ${advice}`;
}

const isWithin = (part: LogSource, whole: LogSource): boolean =>
  keys.every((key) => (part[key] ?? whole[key]) === whole[key]);

/**
 * Returns the known products, categories and services that are nearest to an unknown one, of log sources that are the same otherwise, or else that
 * have the same product.
 */
function nearestParts(sources: readonly LogSource[], logSource: LogSource): string | undefined {
  const { product } = logSource;
  for (const key of ['category', 'service', 'product'] as const) {
    const { [key]: wanted, ...others } = logSource;
    if (wanted === undefined) continue;
    for (const same of [others, ...(product !== undefined && key !== 'product' ? [{ product }] : [])]) {
      const siblings = sources.filter((one) => isWithin(same, one));
      const values = new Map(
        siblings.flatMap((one) =>
          keys.filter((other) => one[other] !== undefined && !(other in same)).map((other) => [one[other]!, other]),
        ),
      );
      if (values.get(wanted) === key) break;
      // The name itself may belong to another key.
      const near = [...(values.has(wanted) ? [wanted] : []), ...nearestNames(wanted, values.keys())].slice(0, 3);
      if (near.length > 0)
        return `; did you mean ${near.map((value) => `${values.get(value)!}: ${value}`).join(' or ')}?`;
    }
  }
  return undefined;
}
