import { visitMatches, type Expression, type Match } from './expression.ts';
import { foldCase } from './fold-case.ts';
import { plainText } from './text-pattern.ts';

/** A text, in lower case, that a field equals or contains. */
export type Guard = { field: string | null; isWhole: boolean; text: string };

/** How many expressions of a set have a guard, by its key. */
export type GuardCounts = ReadonlyMap<string, number>;

export const guardKey = ({ field, isWhole, text }: Guard): string => `${isWhole ? '=' : '~'}${field ?? ''}\0${text}`;

/** Counts in how many expressions each guard occurs. */
export function countGuards(expressions: readonly Expression[]): GuardCounts {
  const counts = new Map<string, number>();
  for (const expression of expressions) {
    const keys = new Set<string>();
    visitMatches(expression, (match) => {
      const guard = readGuard(match);
      if (guard) keys.add(guardKey(guard));
    });
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/**
 * Returns guards of which at least one is true wherever the expression is, or undefined if there are none. Of several possibilities it
 * chooses the guards that few expressions have, because they also tend to be true of few events.
 */
export function chooseGuards(expression: Expression, counts: GuardCounts): Guard[] | undefined {
  switch (expression.kind) {
    case 'match': {
      const guard = readGuard(expression);
      return guard && [guard];
    }
    case 'not':
      return undefined;
    case 'any': {
      const parts = expression.of.map((one) => chooseGuards(one, counts));
      return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
    }
    case 'all': {
      const parts = expression.of.map((one) => chooseGuards(one, counts)).filter((part) => part !== undefined);
      return parts.toSorted((a, b) => costOf(a, counts) - costOf(b, counts))[0];
    }
  }
}

/** Short texts occur in many events, however few expressions have them. */
const shortTexts = [Infinity, 2000, 500, 100, 20];

const costOf = (guards: readonly Guard[], counts: GuardCounts): number =>
  guards.reduce(
    (sum, guard) =>
      sum + (counts.get(guardKey(guard)) ?? 0) + (guard.isWhole ? 0 : (shortTexts[guard.text.length] ?? 0)),
    0,
  );

function readGuard({ field, test }: Match): Guard | undefined {
  if (test.kind !== 'text') return undefined;
  const whole = plainText(test.pattern);
  if (whole !== undefined) return { field, isWhole: true, text: foldCase(whole) };
  const [longest] = test.pattern
    .flatMap((part) => ('text' in part ? [foldCase(part.text)] : []))
    .toSorted((a, b) => b.length - a.length);
  return longest === undefined || longest === '' ? undefined : { field, isWhole: false, text: longest };
}
