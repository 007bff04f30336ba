const charsMax = 512;

/**
 * Returns a function like `compute` that remembers the results for at most `textsMax` texts of at most 512 characters, and then forgets all of
 * them. Callers share the results and must not change them.
 */
export function rememberResults<T>(compute: (text: string) => T, textsMax: number): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    if (text.length > charsMax) return compute(text);
    const remembered = known.get(text);
    if (remembered !== undefined || known.has(text)) return remembered!;
    const result = compute(text);
    if (known.size >= textsMax) known.clear();
    known.set(text, result);
    return result;
  };
}
