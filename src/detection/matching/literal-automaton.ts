/** Finds which of many literals occur in a text, in one pass over it, whatever their number (Aho and Corasick, 1975). */
export type LiteralAutomaton = {
  /** Calls `visit` with the index of every literal that occurs in the text, possibly more than once. */
  search: (text: string, visit: (literal: number) => void) => void;
};

const root = 0;

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
  const fromRoot = next[root]!;
  return {
    search(text, visit) {
      let state = root;
      for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at);
        let target = next[state]!.get(unit);
        while (target === undefined && state !== root) {
          state = fail[state]!;
          target = state === root ? fromRoot.get(unit) : next[state]!.get(unit);
        }
        state = target ?? root;
        for (let found = output[state]!; found !== root; found = output[fail[found]!]!)
          for (const literal of ends[found]!) visit(literal);
      }
    },
  };
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
