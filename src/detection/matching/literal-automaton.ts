/** Finds which of many literals occur in a text, in one pass over it, whatever their number (Aho and Corasick, 1975). */
export type LiteralAutomaton = {
  /** Calls `visit` with the index of every literal that occurs in the text, possibly more than once. */
  search: (text: string, visit: (literal: number) => void) => void;
};

const root = 0;
/** No transition. The root is the target of none. */
const none = 0;
/** Transitions of the root by these code units are in an array of their own, because most searches stay there. */
const frequentUnits = 256;

/** Creates an automaton over UTF-16 code units. No literal is empty. */
export function createAutomaton(literals: readonly string[]): LiteralAutomaton {
  const next: Map<number, number>[] = [new Map()];
  const ends: number[][] = [[]];
  for (const [index, literal] of literals.entries()) {
    let state = root;
    for (let at = 0; at < literal.length; at++) {
      const unit = literal.charCodeAt(at);
      let target = next[state]!.get(unit);
      if (target === undefined) {
        target = next.push(new Map()) - 1;
        ends.push([]);
        next[state]!.set(unit, target);
      }
      state = target;
    }
    ends[state]!.push(index);
  }
  const { fail, output } = linkStates(next, ends);
  const targetOf = createTransitions(next);
  const fromRoot = Int32Array.from({ length: frequentUnits }, (_, unit) => next[root]!.get(unit) ?? none);
  return {
    search(text, visit) {
      let state = root;
      for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at);
        let target = none;
        while (state !== root && (target = targetOf(state, unit)) === none) state = fail[state]!;
        if (state === root) target = unit < frequentUnits ? fromRoot[unit]! : targetOf(root, unit);
        state = target;
        for (let found = output[state]!; found !== root; found = output[fail[found]!]!)
          for (const literal of ends[found]!) visit(literal);
      }
    },
  };
}

/** Returns a function that returns the target of a state and a code unit. The transitions are in one hash table of fixed-size numbers. */
function createTransitions(next: readonly ReadonlyMap<number, number>[]): (state: number, unit: number) => number {
  // One state has one transition to it, and at most half of the places are taken.
  const mask = 2 ** Math.ceil(Math.log2(next.length * 2)) - 1;
  const [states, units, targets] = [new Int32Array(mask + 1), new Uint16Array(mask + 1), new Int32Array(mask + 1)];
  const placeOf = (state: number, unit: number): number => {
    let place = (Math.imul(state, 0x9e3779b1) ^ Math.imul(unit, 0x85ebca6b)) >>> 7;
    for (place &= mask; targets[place] !== none; place = (place + 1) & mask)
      if (states[place] === state && units[place] === unit) break;
    return place;
  };
  for (const [state, transitions] of next.entries())
    for (const [unit, target] of transitions) {
      const place = placeOf(state, unit);
      [states[place], units[place], targets[place]] = [state, unit, target];
    }
  return (state, unit) => targets[placeOf(state, unit)]!;
}

/**
 * Returns for each state the longest other state that is a suffix of it, and the longest one, itself included, at which a literal ends. The root
 * stands for none.
 */
function linkStates(
  next: readonly ReadonlyMap<number, number>[],
  ends: readonly (readonly number[])[],
): { fail: Int32Array; output: Int32Array } {
  const fail = new Int32Array(next.length);
  const output = new Int32Array(next.length);
  const queue: number[] = [...next[root]!.values()];
  for (let at = 0; at < queue.length; at++) {
    const state = queue[at]!;
    output[state] = ends[state]!.length > 0 ? state : output[fail[state]!]!;
    for (const [unit, target] of next[state]!) {
      queue.push(target);
      let suffix = fail[state]!;
      while (suffix !== root && !next[suffix]!.has(unit)) suffix = fail[suffix]!;
      fail[target] = next[suffix]!.get(unit) ?? root;
    }
  }
  return { fail, output };
}
