import { foldCase } from './fold-case.ts';
import type { Guard } from './guards.ts';
import { rememberResults } from '../../platform/lib/concurrency/shared-calls.ts';
import { createAutomaton } from './literal-automaton.ts';

/** Finds which guards of one field are true of a value. */
export type GuardFinder = {
  guardCount: number;
  /** Returns the indexes of the guards that are true. */
  list: (value: string) => readonly number[];
  /** Returns the expressions whose guards are true, possibly more than once. */
  find: (value: string) => readonly number[];
  /** Sets the expressions of each guard by its index. Returns whether any has one. */
  use: (expressionsOf: readonly (readonly number[])[]) => boolean;
};

const rememberedValuesMax = 4000;
const none: readonly number[] = [];

/** Creates a finder. Short values repeat in logs, so it remembers them. */
export function createGuardFinder(guards: readonly (Guard & { index: number })[]): GuardFinder {
  const whole = new Map(guards.filter(({ isWhole }) => isWhole).map(({ text, index }) => [text, index]));
  const contained = guards.filter(({ isWhole }) => !isWhole);
  const automaton = createAutomaton(contained.map(({ text }) => text));
  let expressionsOf: readonly (readonly number[])[] = [];

  const list = (text: string): readonly number[] => {
    const value = foldCase(text);
    const found = new Set<number>();
    const equal = whole.get(value);
    if (equal !== undefined) found.add(equal);
    if (contained.length > 0) automaton.search(value, (literal) => found.add(contained[literal]!.index));
    return found.size > 0 ? [...found] : none;
  };
  const search = (value: string): readonly number[] => {
    const found = list(value).flatMap((index) => expressionsOf[index]!);
    return found.length > 0 ? found : none;
  };
  let find = rememberResults(search, rememberedValuesMax);
  return {
    guardCount: guards.length,
    list,
    find: (value) => find(value),
    use(expressions) {
      expressionsOf = expressions;
      find = rememberResults(search, rememberedValuesMax);
      return guards.some(({ index }) => expressions[index]!.length > 0);
    },
  };
}
