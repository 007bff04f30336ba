/** Finds which of many literals occur in a text, in one pass over it, whatever their number (Aho and Corasick, 1975). */
export type LiteralAutomaton = {
  /** Calls `visit` with the index of every literal that occurs in the text, possibly more than once. */
  search: (text: string, visit: (literal: number) => void) => void;
};

const root = 0;
/** No transition. The root is the target of none. */
const none = 0;
/** Entries of the table with the transitions of the states near the root, where most searches stay. */
const tableEntriesMax = 2 ** 21;

/** Creates an automaton over UTF-16 code units. No literal is empty. Tests set `entriesMax`. */
export function createAutomaton(literals: readonly string[], entriesMax = tableEntriesMax): LiteralAutomaton {
  const { next, ends } = buildStates(literals);
  const { fail, output } = linkStates(next, ends);
  const { classes, classCount } = classifyUnits(next);
  const tableStates = Math.min(next.length, Math.max(1, Math.floor(entriesMax / classCount)));
  const table = buildTable(next, { fail, classes, classCount, tableStates });
  const targetOf = createTransitions(next, tableStates);
  return {
    search(text, visit) {
      let state = root;
      for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at);
        let target = none;
        while (state >= tableStates && (target = targetOf(state, unit)) === none) state = fail[state]!;
        if (target !== none) state = target;
        else state = table[state * classCount + (unit < classes.length ? classes[unit]! : 0)]!;
        for (let found = output[state]!; found !== root; found = output[fail[found]!]!)
          for (const literal of ends[found]!) visit(literal);
      }
    },
  };
}

/** The transitions of each state by code unit, and the literals that end at it. */
type States = { next: Map<number, number>[]; ends: number[][] };

/** Returns the states of a trie of the literals, numbered by their distance from the root. */
function buildStates(literals: readonly string[]): States {
  const next: Map<number, number>[] = [new Map()];
  const ends: number[][] = [[]];
  // The literals that pass through each state of one distance.
  let level = new Map([[root, literals.map((_, index) => index)]]);
  for (let depth = 0; level.size > 0; depth++) {
    const deeper = new Map<number, number[]>();
    for (const [state, passing] of level)
      for (const index of passing) {
        const literal = literals[index]!;
        if (literal.length === depth) {
          ends[state]!.push(index);
          continue;
        }
        const unit = literal.charCodeAt(depth);
        let target = next[state]!.get(unit);
        if (target === undefined) {
          target = next.push(new Map()) - 1;
          ends.push([]);
          next[state]!.set(unit, target);
          deeper.set(target, []);
        }
        deeper.get(target)!.push(index);
      }
    level = deeper;
  }
  return { next, ends };
}

/** Returns the class of each code unit up to the highest with a transition. Units without a transition share the class 0. */
function classifyUnits(next: States['next']): { classes: Uint16Array; classCount: number } {
  const units = new Set(next.flatMap((transitions) => [...transitions.keys()]));
  const classes = new Uint16Array([...units].reduce((max, unit) => Math.max(max, unit), -1) + 1);
  let classCount = 1;
  for (const unit of units) classes[unit] = classCount++;
  return { classes, classCount };
}

type TableOptions = { fail: Int32Array; classes: Uint16Array; classCount: number; tableStates: number };

/** Returns the state that follows each of the first states, by the class of the code unit, with the transitions of its suffixes. */
function buildTable(next: States['next'], { fail, classes, classCount, tableStates }: TableOptions): Int32Array {
  const table = new Int32Array(tableStates * classCount);
  for (let state = 0; state < tableStates; state++) {
    const start = state * classCount;
    // A suffix is nearer to the root, so that its row is complete.
    if (state !== root) table.copyWithin(start, fail[state]! * classCount, (fail[state]! + 1) * classCount);
    for (const [unit, target] of next[state]!) table[start + classes[unit]!] = target;
  }
  return table;
}

/**
 * Returns a function that returns the target of a state and a code unit, for states from `first`. The transitions are in one hash table of
 * fixed-size numbers.
 */
function createTransitions(next: States['next'], first: number): (state: number, unit: number) => number {
  // One state has one transition to it, and at most half of the places are taken.
  const mask = 2 ** Math.ceil(Math.log2(Math.max(1, next.length - first) * 2)) - 1;
  const [states, units, targets] = [new Int32Array(mask + 1), new Uint16Array(mask + 1), new Int32Array(mask + 1)];
  const placeOf = (state: number, unit: number): number => {
    let place = (Math.imul(state, 0x9e3779b1) ^ Math.imul(unit, 0x85ebca6b)) >>> 7;
    for (place &= mask; targets[place] !== none; place = (place + 1) & mask)
      if (states[place] === state && units[place] === unit) break;
    return place;
  };
  for (let state = first; state < next.length; state++)
    for (const [unit, target] of next[state]!) {
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
