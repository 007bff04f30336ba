/** Finds which of many literals occur in a text, in one pass over it, whatever their number (Aho and Corasick, 1975). */
export type LiteralAutomaton = {
  /**
   * Calls `visit` with the index of every literal that occurs in the text, possibly more than once. ASCII letters match in either case. `isAscii`:
   * the text is known to have no other characters, which makes the search faster.
   */
  search: (text: string, visit: (literal: number) => void, isAscii?: boolean) => void;
};

const root = 0;
const asciiMax = 127;
/** From this many characters on, copying a text into bytes takes less time than reading it bytewise saves. */
const copiedCharsMin = 32;
/** Texts that are searched as bytes. Each is read before the next one is copied, so that all automata share the memory. */
const copied = Buffer.allocUnsafeSlow(64 * 1024);
/** Entries of the table with the transitions of the states near the root, where most searches stay. */
const tableEntriesMax = 2 ** 21;

/**
 * Creates an automaton over UTF-16 code units. The literals are distinct, not empty, and without upper-case ASCII letters. Tests set
 * `entriesMax`.
 */
export function createAutomaton(literals: readonly string[], entriesMax = tableEntriesMax): LiteralAutomaton {
  const { classes, classCount } = classifyUnits(literals);
  const trie = buildTrie(literals, classes);
  const { ends } = trie;
  const { fail, output } = linkStates(trie);
  const tableStates = Math.min(fail.length, Math.max(1, Math.floor(entriesMax / classCount)));
  // States are multiplied with the number of classes, and those at which a literal ends are inverted.
  const table = buildTable(trie, { fail, output }, { classCount, tableStates });
  const tableEnd = tableStates * classCount;
  const leaveFarState = (from: number, symbol: number): number => {
    let state = from / classCount;
    let target = root;
    while (state >= tableStates && (target = findChild(trie, state, symbol)) === root) state = fail[state]!;
    if (target === root) return table[state * classCount + symbol]!;
    return output[target] === root ? target * classCount : ~(target * classCount);
  };
  const visitOutputs = (state: number, visit: (literal: number) => void): void => {
    for (let found = output[state / classCount]!; found !== root; found = output[fail[found]!]!) visit(ends[found]!);
  };
  const searchBytes = (length: number, visit: (literal: number) => void): void => {
    let state = root;
    for (let at = 0; at < length; at++) {
      const symbol = classes[copied[at]!]!;
      state = state < tableEnd ? table[state + symbol]! : leaveFarState(state, symbol);
      if (state < 0) visitOutputs((state = ~state), visit);
    }
  };
  return {
    search(text, visit, isAscii = false) {
      if (isAscii && text.length >= copiedCharsMin && text.length <= copied.length)
        return searchBytes(copied.write(text, 'latin1'), visit);
      let state = root;
      for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at);
        const symbol = unit < classes.length ? classes[unit]! : 0;
        state = state < tableEnd ? table[state + symbol]! : leaveFarState(state, symbol);
        if (state < 0) visitOutputs((state = ~state), visit);
      }
    },
  };
}

/** Returns the class of each code unit of ASCII and up to the highest in a literal. Units that are in none share the class 0. */
function classifyUnits(literals: readonly string[]): { classes: Uint16Array; classCount: number } {
  const units = new Set<number>();
  for (const literal of literals) for (let at = 0; at < literal.length; at++) units.add(literal.charCodeAt(at));
  const classes = new Uint16Array([...units].reduce((max, unit) => Math.max(max, unit), asciiMax) + 1);
  let classCount = 1;
  for (const unit of units) classes[unit] = classCount++;
  for (let letter = 97; letter <= 122; letter++) classes[letter - 32] = classes[letter]!;
  return { classes, classCount };
}

/**
 * The states by their distance from the root. Those that follow a state are neighbors: from `children[state]` to before `children[state + 1]`.
 * `symbols`: the class of the code unit that leads to each state. `ends`: the literal that ends at it, or -1.
 */
type Trie = { children: Int32Array; symbols: Uint16Array; ends: Int32Array };

/** Builds the trie level by level. The literals that pass through a state are neighbors in the order of their units. */
function buildTrie(literals: readonly string[], classes: Uint16Array): Trie {
  const order = literals.map((_, index) => index).toSorted((a, b) => (literals[a]! < literals[b]! ? -1 : 1));
  const statesMax = literals.reduce((sum, { length }) => sum + length, 1);
  const [children, symbols] = [new Int32Array(statesMax + 1), new Uint16Array(statesMax)];
  const [from, to, depths] = [new Int32Array(statesMax), new Int32Array(statesMax), new Int32Array(statesMax)];
  const ends = new Int32Array(statesMax).fill(-1);
  to[root] = order.length;
  let count = 1;
  for (let state = 0; state < count; state++) {
    const [depth, end] = [depths[state]!, to[state]!];
    let at = from[state]!;
    // Literals are sorted, so the shortest of those with the same prefix comes first.
    if (at < end && literals[order[at]!]!.length === depth) ends[state] = order[at++]!;
    children[state] = count;
    while (at < end) {
      const unit = literals[order[at]!]!.charCodeAt(depth);
      from[count] = at;
      while (at < end && literals[order[at]!]!.charCodeAt(depth) === unit) at += 1;
      [to[count], depths[count], symbols[count]] = [at, depth + 1, classes[unit]!];
      count += 1;
    }
  }
  children[count] = count;
  return { children: children.slice(0, count + 1), symbols: symbols.slice(0, count), ends: ends.slice(0, count) };
}

/** Returns the state that follows a state, or the root, which follows none. States far from the root have few children. */
function findChild({ children, symbols }: Trie, state: number, symbol: number): number {
  const end = children[state + 1]!;
  for (let child = children[state]!; child < end; child++) if (symbols[child] === symbol) return child;
  return root;
}

/**
 * Returns for each state the longest other state that is a suffix of it, and the longest one, itself included, at which a literal ends. The root
 * stands for none.
 */
function linkStates(trie: Trie): { fail: Int32Array; output: Int32Array } {
  const { children, symbols, ends } = trie;
  const [fail, output] = [new Int32Array(ends.length), new Int32Array(ends.length)];
  for (let state = 0; state < ends.length; state++) {
    if (state !== root) output[state] = ends[state] === -1 ? output[fail[state]!]! : state;
    for (let child = children[state]!; child < children[state + 1]!; child++) {
      if (state === root) continue;
      let suffix = fail[state]!;
      let target = findChild(trie, suffix, symbols[child]!);
      while (suffix !== root && target === root) {
        suffix = fail[suffix]!;
        target = findChild(trie, suffix, symbols[child]!);
      }
      fail[child] = target;
    }
  }
  return { fail, output };
}

/**
 * Returns the state that follows each of the first states, by the class of the code unit, with the transitions of its suffixes: times the number of
 * classes, and inverted if it has an output.
 */
function buildTable(
  { children, symbols }: Trie,
  { fail, output }: { fail: Int32Array; output: Int32Array },
  { classCount, tableStates }: { classCount: number; tableStates: number },
): Int32Array {
  const table = new Int32Array(tableStates * classCount);
  for (let state = 0; state < tableStates; state++) {
    const start = state * classCount;
    // A suffix is nearer to the root, so that its row is complete.
    if (state !== root) table.copyWithin(start, fail[state]! * classCount, (fail[state]! + 1) * classCount);
    for (let child = children[state]!; child < children[state + 1]!; child++)
      table[start + symbols[child]!] = output[child] === root ? child * classCount : ~(child * classCount);
  }
  return table;
}
