import { visitMatches, type Expression, type Match } from './expression.ts';
import { foldCase } from './fold-case.ts';
import { requiredLiterals } from './regex-literal.ts';
import { plainText } from './text-pattern.ts';

/** A text, in lower case, that a field equals or contains. */
export type Guard = { field: string | null; isWhole: boolean; text: string };

export const guardKey = ({ field, isWhole, text }: Guard): string => `${isWhole ? '=' : '~'}${field ?? ''}\0${text}`;

/** Calls `visit` once for each guard that an expression could have. */
export function visitGuards(expression: Expression, visit: (guard: Guard) => void): void {
  const keys = new Set<string>();
  visitMatches(expression, (match) => {
    for (const guard of readGuards(match) ?? []) {
      if (keys.has(guardKey(guard))) continue;
      keys.add(guardKey(guard));
      visit(guard);
    }
  });
}

/**
 * Returns guards of which at least one is true wherever the expression is, or undefined if there are none. Of several possibilities it chooses
 * the one with the lowest cost.
 */
export function chooseGuards(
  expression: Expression,
  costOf: (guards: readonly Guard[]) => number,
): readonly Guard[] | undefined {
  switch (expression.kind) {
    case 'match':
      return readGuards(expression);
    case 'not':
      return undefined;
    case 'any': {
      const parts = expression.of.map((one) => chooseGuards(one, costOf));
      return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
    }
    case 'all': {
      const parts = expression.of.map((one) => chooseGuards(one, costOf)).filter((part) => part !== undefined);
      const costs = new Map(parts.map((part) => [part, costOf(part)]));
      return parts.toSorted((a, b) => costs.get(a)! - costs.get(b)!)[0];
    }
  }
}

/** Returns guards one of which is true wherever a match is. */
function readGuards({ field, test }: Match): readonly Guard[] | undefined {
  if (test.kind === 'regex')
    return requiredLiterals(test.source, test.flags)?.map((text) => ({ field, isWhole: false, text }));
  if (test.kind !== 'text') return undefined;
  const whole = plainText(test.pattern);
  if (whole !== undefined) return [{ field, isWhole: true, text: foldCase(whole) }];
  const [longest] = test.pattern
    .flatMap((part) => ('text' in part ? [foldCase(part.text)] : []))
    .toSorted((a, b) => b.length - a.length);
  return longest === undefined || longest === '' ? undefined : [{ field, isWhole: false, text: longest }];
}
