import { foldCase } from './fold-case.ts';
import type { Guard } from './guards.ts';
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
const rememberedCharsMax = 512;
const none: readonly number[] = [];

/** Creates a finder. Short values repeat in logs, so it remembers them. */
export function createGuardFinder(guards: readonly (Guard & { index: number })[]): GuardFinder {
  const whole = new Map(guards.filter(({ isWhole }) => isWhole).map(({ text, index }) => [text, index]));
  const contained = guards.filter(({ isWhole }) => !isWhole);
  const automaton = createAutomaton(contained.map(({ text }) => text));
  const known = new Map<string, readonly number[]>();
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
  return {
    guardCount: guards.length,
    list,
    find(value) {
      if (value.length > rememberedCharsMax) return search(value);
      const remembered = known.get(value);
      if (remembered) return remembered;
      if (known.size >= rememberedValuesMax) known.clear();
      const found = search(value);
      known.set(value, found);
      return found;
    },
    use(expressions) {
      expressionsOf = expressions;
      known.clear();
      return guards.some(({ index }) => expressions[index]!.length > 0);
    },
  };
}
