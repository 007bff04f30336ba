/** Normalizes text for comparison: NFKC, refanged addresses, lower case. */
export function normalizeText(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\[\.\]|\(\.\)|\[dot\]/gi, '.')
    .replaceAll(/\[(:|@)\]/g, '$1')
    .replaceAll(/\bhxxp/gi, 'http')
    .toLowerCase();
}

/** Returns whether the known text contains the claim as a whole word or address: not `10.0.0.1` in `10.0.0.11`, nor `evil.com` in `notevil.com` or `evil.com.example`. An empty claim states nothing, which every text contains. */
export function containsWhole({ text }: { text: string }, claim: string): boolean {
  if (claim === '') return true;
  for (let start = text.indexOf(claim); start !== -1; start = text.indexOf(claim, start + 1)) {
    const isStart = !/[a-z0-9_-]$|\d\.$/.test(text.slice(Math.max(0, start - 2), start));
    const isEnd = !/^(?:[a-z0-9_]|[.-][a-z0-9])/.test(text.slice(start + claim.length, start + claim.length + 2));
    if (isStart && isEnd) return true;
  }
  return false;
}

/** Returns whether a number is known, or equals a known number rounded to the same decimals. */
export function containsNumber({ numbers }: { numbers: ReadonlySet<number> }, text: string): boolean {
  const claimed = Number(text);
  if (numbers.has(claimed)) return true;
  const decimals = text.split('.')[1]?.length ?? 0;
  for (const number of numbers)
    if (!Number.isInteger(number) && Number(number.toFixed(Math.min(decimals, 10))) === claimed) return true;
  return false;
}
