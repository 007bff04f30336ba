/**
 * Compiles a pattern in which `*` stands for any text, including the empty one. Case and surrounding whitespace do not matter. Takes linear time for each
 * `*`, whatever the text.
 */
export function compilePattern(pattern: string): (text: string) => boolean {
  const parts = normalize(pattern).split('*');
  const [first = ''] = parts;
  if (parts.length === 1) return (text) => normalize(text) === first;
  const last = parts.at(-1)!;
  const inner = parts.slice(1, -1).filter((part) => part !== '');
  return (text) => {
    const lower = normalize(text);
    const end = lower.length - last.length;
    if (!lower.startsWith(first) || !lower.endsWith(last) || end < first.length) return false;
    let position = first.length;
    for (const part of inner) {
      const found = lower.indexOf(part, position);
      if (found < 0 || found + part.length > end) return false;
      position = found + part.length;
    }
    return true;
  };
}

const normalize = (text: string): string => text.trim().toLowerCase();
